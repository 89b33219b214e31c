"""The grants: authorization code with mandatory PKCE (S256), and refresh with rotation.

Authlib drives the protocol; what is here says what this provider allows. Authlib ships no type
information, hence the untyped bases.
"""

import secrets

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2 import OAuth2Request
from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidRequestError, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9207 import IssuerParameter

from demo.provider.claims import AccessTokens, CodeIdToken, RefreshedIdToken
from demo.provider.issuer import Client, Issuer
from demo.provider.store import AuthorizationCode, RefreshToken, SignIn


class RequiredS256(CodeChallenge):  # type: ignore[misc]
    """PKCE (RFC 7636) for every client, with S256 only: `plain` and its absence are refused."""

    def validate_code_challenge(self, grant: grants.BaseGrant, redirect_uri: str) -> None:
        # Authlib lets a request without challenge and method pass, and takes a missing method for `plain`.
        if grant.request.payload.data.get("code_challenge_method") != "S256":
            raise InvalidRequestError("A 'code_challenge' with the 'code_challenge_method' S256 is required")
        super().validate_code_challenge(grant, redirect_uri)


class CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]
    """Authorization codes that work once and are bound to client, address and challenge."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "none")

    def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
        sent = request.payload.data
        self.server.issuer.codes.save(
            code,
            AuthorizationCode(
                family=secrets.token_urlsafe(16),
                client_id=request.client.client_id,
                redirect_uri=request.payload.redirect_uri,
                scope=request.scope,
                nonce=sent.get("nonce"),
                code_challenge=sent["code_challenge"],
                code_challenge_method=sent["code_challenge_method"],
                sign_in=request.user,
            ),
        )

    def query_authorization_code(self, code: str, client: Client) -> AuthorizationCode | None:
        found: AuthorizationCode | None = self.server.issuer.codes.find(code)
        return found if found and found.client_id == client.client_id else None

    def authenticate_user(self, authorization_code: AuthorizationCode) -> SignIn:
        # Authlib asks this after every other check, so a refused request spends nothing.
        issuer: Issuer = self.server.issuer
        if not issuer.codes.spend(self.request.form["code"]):
            issuer.refresh_tokens.revoke(authorization_code.family)
            raise InvalidGrantError("The code was used before.")
        return authorization_code.sign_in

    def delete_authorization_code(self, authorization_code: AuthorizationCode) -> None:
        """Do nothing: a spent code is remembered until it expires, so that a second use is noticed."""


class RefreshGrant(grants.RefreshTokenGrant):  # type: ignore[misc]
    """Refresh tokens that work once: each use gives the next, a second use ends the whole line (RFC 9700)."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic",)
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> RefreshToken | None:
        found: RefreshToken | None = self.server.issuer.refresh_tokens.find(refresh_token)
        return found

    def authenticate_user(self, refresh_token: RefreshToken) -> SignIn:
        issuer: Issuer = self.server.issuer
        if not issuer.refresh_tokens.spend(self.request.form["refresh_token"]):
            issuer.refresh_tokens.revoke(refresh_token.family)
            raise InvalidGrantError("The refresh token was used before. Sign in again.")
        return refresh_token.sign_in

    def revoke_old_credential(self, refresh_token: RefreshToken) -> None:
        """Do nothing: the old token was spent before the new one was made."""


class IssuerInResponse(IssuerParameter):  # type: ignore[misc]
    """The `iss` parameter of every authorization response, errors included (RFC 9207)."""

    def __init__(self, issuer: Issuer) -> None:
        self._url = issuer.url

    def get_issuer(self) -> str:
        return self._url


class ProviderServer(AuthorizationServer):  # type: ignore[misc]
    """Authlib's authorization server, set up for one issuer."""

    def __init__(self, issuer: Issuer) -> None:
        super().__init__()
        self.issuer = issuer
        self.issuer_in_response = IssuerInResponse(issuer)
        self.issuer_in_response(self)
        self.register_token_generator("default", AccessTokens(issuer))
        self.register_grant(CodeGrant, [RequiredS256(required=True), CodeIdToken(issuer)])
        self.register_grant(RefreshGrant, [RefreshedIdToken(issuer)])

    def query_client(self, client_id: str) -> Client | None:
        return self.issuer.clients.get(client_id)

    def save_token(self, token: dict[str, str], request: OAuth2Request) -> None:
        secret = token.get("refresh_token")
        if secret is None:
            return
        origin = request.authorization_code or request.refresh_token
        self.issuer.refresh_tokens.save(
            secret, RefreshToken(origin.family, request.client.client_id, origin.scope, request.user)
        )
