"""An issuer: one org's address, key, clients and people."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from joserfc.jwk import RSAKey

from demo.people import Org, Person, people_of
from demo.provider.keys import ALGORITHM
from demo.provider.store import CODE_SECONDS, REFRESH_SECONDS, AuthorizationCode, RefreshToken, SingleUse

AUDIENCE = "keepline"
SCOPES = ("openid", "profile", "email")
# RFC 8252, section 7.3: a program on the person's own machine listens on whatever port is free.
_LOOPBACK_REDIRECT = re.compile(r"http://127\.0\.0\.1(?::[0-9]{1,5})?/callback", re.ASCII)


@dataclass(frozen=True, slots=True)
class Client:
    """A registered application. One without `secret` is public: it can keep none and shows PKCE alone."""

    client_id: str
    display_name: str
    redirect_uris: tuple[str, ...] = ()
    secret: str | None = field(default=None, repr=False)
    id_token_signed_response_alg: str = ALGORITHM

    @property
    def grant_types(self) -> tuple[str, ...]:
        return ("authorization_code", "refresh_token") if self.secret else ("authorization_code",)

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> None:
        """Name none: OpenID Connect Core, section 3.1.2.1, requires the request to name its own."""

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """Keep the scopes this provider knows, and none of the others (OpenID Connect Core, 3.1.2.1)."""
        asked = scope.split() if scope else SCOPES
        return " ".join(known for known in SCOPES if known in asked) or None

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        if self.secret:
            return redirect_uri in self.redirect_uris
        return _LOOPBACK_REDIRECT.fullmatch(redirect_uri) is not None

    def check_client_secret(self, secret: str) -> bool:
        return self.secret is not None and hmac.compare_digest(self.secret.encode(), secret.encode())

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:  # noqa: ARG002 (Authlib's shape)
        return method == ("client_secret_basic" if self.secret else "none")

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.grant_types


@dataclass(frozen=True, slots=True)
class Issuer:
    """One org's provider. `url` is the issuer identifier and the start of every endpoint's address."""

    url: str
    org: Org
    key: RSAKey
    clients: Mapping[str, Client]
    codes: SingleUse[AuthorizationCode] = field(default_factory=lambda: SingleUse(CODE_SECONDS))
    refresh_tokens: SingleUse[RefreshToken] = field(default_factory=lambda: SingleUse(REFRESH_SECONDS))

    @property
    def people(self) -> tuple[Person, ...]:
        return people_of(self.org)

    def metadata(self) -> dict[str, object]:
        """Describe the provider (OpenID Connect Discovery, section 3; RFC 9207, section 3)."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "scopes_supported": list(SCOPES),
            "claims_supported": [
                *("iss", "sub", "aud", "azp", "exp", "iat", "auth_time", "nonce"),
                *("name", "preferred_username", "email", "email_verified", "teams", "roles"),
            ],
            "authorization_response_iss_parameter_supported": True,
            "claims_parameter_supported": False,
            "request_parameter_supported": False,
            "request_uri_parameter_supported": False,
        }


def demo_clients(web_redirect_uris: tuple[str, ...], web_client_secret: str) -> dict[str, Client]:
    """List the applications that every issuer of the demo knows, by client id.

    Raises ValueError when the web application would have no secret or nowhere to be sent back to.
    """
    if not web_client_secret or not web_redirect_uris:
        raise ValueError("The web application needs a client secret and at least one redirect address.")
    clients = (
        Client("keepline-web", "Keepline", web_redirect_uris, web_client_secret),
        Client("demo-assistant", "Demo assistant"),
        Client("demo-console", "Demo console"),
    )
    return {client.client_id: client for client in clients}
