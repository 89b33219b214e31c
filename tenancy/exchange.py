"""The OAuth 2.0 client of a sign-in: the address that a browser is sent to, and the token endpoint's replies."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote_plus

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client

from tenancy.breaker import Breaker
from tenancy.discovery import Metadata
from tenancy.fetch import Fetcher
from tenancy.keys import SecretBox
from tenancy.providers import Provider
from tenancy.refreshed import ProviderUnavailableError
from tenancy.verification import SignInRefusedError

_PASSING_ERRORS = ("server_error", "temporarily_unavailable", "slow_down")
_CLIENT_ERRORS = ("invalid_client", "unauthorized_client")
_REFRESH_SCOPE = "offline_access"
_REFRESH_TOKEN_CHARACTERS = 8_192


@dataclass(frozen=True)
class SignIn:
    """A sign-in under way: what the callback must match."""

    state: str
    nonce: str
    code_verifier: str
    org_id: str
    provider_id: str
    return_to: str


@dataclass(frozen=True)
class TokenExchange:
    """Asks providers for tokens, by the authorization code flow with PKCE (RFC 7636) and with refresh tokens."""

    fetcher: Fetcher
    box: SecretBox
    breaker: Breaker

    def authorization_address(self, provider: Provider, metadata: Metadata, redirect_uri: str, sign_in: SignIn) -> str:
        """Return the address that begins a sign-in; it asks for a refresh token where the provider offers one."""
        scopes = provider.scopes.split()
        if metadata.offers_refresh and _REFRESH_SCOPE not in scopes:
            scopes.append(_REFRESH_SCOPE)
        with self._client(provider, metadata, scope=" ".join(scopes), redirect_uri=redirect_uri) as client:
            address, _ = client.create_authorization_url(
                metadata.authorization_endpoint,
                state=sign_in.state,
                nonce=sign_in.nonce,
                code_verifier=sign_in.code_verifier,
            )
        return str(address)

    def redeem_code(
        self, provider: Provider, metadata: Metadata, redirect_uri: str, code: str, code_verifier: str
    ) -> dict[str, Any]:
        """Return what the token endpoint gives for a code.

        Raises:
            SignInRefusedError: it refuses.
            ProviderUnavailableError: it does not answer, not with JSON, does not accept the client, or is left alone.

        """
        with self.breaker.call(provider.issuer), self._client(provider, metadata, redirect_uri=redirect_uri) as client:
            return _ask(
                lambda: client.fetch_token(
                    metadata.token_endpoint, grant_type="authorization_code", code=code, code_verifier=code_verifier
                )
            )

    def redeem_refresh_token(self, provider: Provider, metadata: Metadata, refresh_token: str) -> dict[str, Any]:
        """Return what the token endpoint gives for a refresh token.

        Raises:
            SignInRefusedError: it refuses.
            ProviderUnavailableError: it does not answer, not with JSON, does not accept the client, or is left alone.

        """
        with self.breaker.call(provider.issuer), self._client(provider, metadata) as client:
            return _ask(
                lambda: client.fetch_token(
                    metadata.token_endpoint, grant_type="refresh_token", refresh_token=refresh_token
                )
            )

    def _client(self, provider: Provider, metadata: Metadata, **options: str) -> OAuth2Client:
        secret = provider.opened_secret(self.box)
        with_secret = "client_secret_post" if metadata.takes_secret_in_body else _authenticate
        client = OAuth2Client(
            provider.client_id,
            secret,
            code_challenge_method="S256",
            token_endpoint_auth_method=with_secret if secret else "none",
            **options,
            **self.fetcher.client_options(),
        )
        client.register_compliance_hook("access_token_response", _refuse_when_busy)
        return client


def refresh_token_of(reply: Mapping[str, Any]) -> str | None:
    """Return a reply's refresh token; one that can't be stored is as good as none."""
    token = reply.get("refresh_token")
    if isinstance(token, str) and token.isascii() and token.isprintable():
        return token if 1 <= len(token) <= _REFRESH_TOKEN_CHARACTERS else None
    return None


def _ask(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return ask()
    except OAuthError as error:
        if error.error in _PASSING_ERRORS:
            raise ProviderUnavailableError("The identity provider is busy. Try again shortly.") from error
        if error.error in _CLIENT_ERRORS:  # RFC 6749 section 5.2: about Keepline, and nothing about the person
            raise ProviderUnavailableError(
                "The identity provider does not accept Keepline as its client. An admin or the operator must check "
                "client id and secret."
            ) from error
        raise SignInRefusedError("The identity provider refused the sign-in. You can try again.") from error
    except (httpx2.HTTPError, ValueError, ArithmeticError, RecursionError) as error:
        raise ProviderUnavailableError("The identity provider did not answer. Try again shortly.") from error


def _refuse_when_busy(reply: httpx2.Response) -> httpx2.Response:
    """Pass a reply on unless it is 429, whose body must not be read as a refusal."""
    return reply.raise_for_status() if reply.status_code == HTTPStatus.TOO_MANY_REQUESTS else reply


def _authenticate(
    client: Any, _method: str, address: str, headers: dict[str, str], body: Any
) -> tuple[str, dict[str, str], Any]:
    """Name client and secret by HTTP Basic, each encoded as RFC 6749 section 2.3.1 asks, which Authlib leaves out."""
    pair = f"{quote_plus(client.client_id)}:{quote_plus(client.client_secret)}"
    headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
    return address, headers, body
