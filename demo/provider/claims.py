"""What the provider's tokens hold. Authlib ships no type information, hence the untyped bases."""

import secrets

from authlib.oauth2 import OAuth2Request
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator, JWTBearerTokenValidator
from authlib.oauth2.rfc9068.claims import JWTAccessTokenClaims
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode, OpenIDToken
from joserfc.jwk import KeySet, RSAKey

from demo.people import Person
from demo.provider.issuer import AUDIENCE, Client, Issuer
from demo.provider.keys import ALGORITHM
from demo.provider.store import SignIn

ACCESS_TOKEN_SECONDS = 3600


def identity_claims(person: Person, scope: str) -> dict[str, object]:
    """Say who the person is, as far as the scope allows (OpenID Connect Core, section 5.4).

    `teams` and `roles` are this provider's own claims and go with every scope.
    """
    everything = UserInfo(
        sub=person.subject,
        name=person.display_name,
        preferred_username=person.login_name,
        email=person.email,
        email_verified=True,
    )
    # `sub` comes with `openid`, which a plain OAuth request may leave out.
    claims = everything.filter(f"openid {scope}")
    return {**claims, "teams": list(person.teams), "roles": list(person.claimed_roles)}


class AccessTokens(JWTBearerTokenGenerator):  # type: ignore[misc]
    """Access tokens as JWT (RFC 9068), valid for an hour, for the audience `keepline`."""

    def __init__(self, issuer: Issuer) -> None:
        super().__init__(
            issuer=issuer.url,
            alg=ALGORITHM,
            refresh_token_generator=lambda **_: secrets.token_urlsafe(32),
            expires_generator=ACCESS_TOKEN_SECONDS,
        )
        self._key = issuer.key

    def get_jwks(self) -> KeySet:
        return KeySet([self._key])

    def get_audiences(self, client: Client, user: SignIn, scope: str) -> str:  # noqa: ARG002 (Authlib's shape)
        return AUDIENCE

    def get_auth_time(self, user: SignIn) -> int:
        return user.auth_time

    def get_extra_claims(
        self,
        client: Client,
        grant_type: str,  # noqa: ARG002 (Authlib's shape)
        user: SignIn,
        scope: str,  # noqa: ARG002
    ) -> dict[str, object]:
        return {**identity_claims(user.person, "profile email"), "azp": client.client_id}


class _IdTokenContent:
    """What an ID token holds, whichever grant it comes from."""

    def __init__(self, issuer: Issuer) -> None:
        super().__init__()
        self._issuer = issuer

    def resolve_client_private_key(self, client: Client) -> RSAKey:  # noqa: ARG002 (Authlib's shape)
        return self._issuer.key

    def get_encode_header(self, client: Client) -> dict[str, object]:  # noqa: ARG002 (Authlib's shape)
        return {"alg": ALGORITHM, "kid": self._issuer.key.kid}

    def get_client_claims(self, client: Client) -> dict[str, object]:
        return {"iss": self._issuer.url, "aud": client.client_id, "azp": client.client_id}

    def generate_user_info(self, user: SignIn, scope: str) -> dict[str, object]:
        # A refreshed token says when the person signed in, not when it was refreshed (OIDC Core, 12.2).
        return {**identity_claims(user.person, scope), "auth_time": user.auth_time}


class CodeIdToken(_IdTokenContent, OpenIDCode):  # type: ignore[misc]
    """The ID token of a sign-in, with the request's nonce."""

    def exists_nonce(self, nonce: str, request: OAuth2Request) -> bool:  # noqa: ARG002 (Authlib's shape)
        """Answer no: whether a nonce is new is the client's to check, and *Back* may send one twice."""
        return False


class RefreshedIdToken(_IdTokenContent, OpenIDToken):  # type: ignore[misc]
    """The ID token that comes with a refresh, without a nonce."""


class AccessTokenValidator(JWTBearerTokenValidator):  # type: ignore[misc]
    """Accepts the access tokens of one issuer at its own userinfo endpoint."""

    def __init__(self, issuer: Issuer) -> None:
        super().__init__(issuer.url, AUDIENCE)
        self._key = issuer.key

    def get_jwks(self) -> KeySet:
        return KeySet([self._key])

    def authenticate_token(self, token_string: str) -> JWTAccessTokenClaims:
        token = super().authenticate_token(token_string)
        # Most people have no role, and Authlib takes an empty list for a malformed claim.
        token.options["roles"]["allow_blank"] = True
        return token
