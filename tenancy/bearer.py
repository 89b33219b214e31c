"""Bearer tokens: JWT access tokens (RFC 9068) of an org's provider, verified and turned into a caller."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError

from tenancy.clients import Client, effective_scopes
from tenancy.clock import Clock
from tenancy.errors import NotSignedInError, UnknownClientError
from tenancy.identity import Identity
from tenancy.oidc import OpenIDProviders, SignInRefusedError, VerifiedClaims
from tenancy.providers import Directory, Provider
from tenancy.roles import rights_from_claims

ACCESS_TOKEN_TYPES = ("at+jwt", "application/at+jwt")
TOKEN_CHARACTERS_AT_MOST = 16_384
_REMEMBERED_SECONDS = 60
_REMEMBERED_AT_MOST = 10_000


@dataclass(frozen=True)
class Bearer:
    """What a valid access token says: who acts for whom, and what the call may do."""

    provider: Provider
    identity: Identity
    client: Client
    scopes: frozenset[str]
    person_name: str | None
    person_email: str | None


class BearerTokens:
    """Verifies access tokens; a verified signature is remembered for at most 60 s, and never past `exp`."""

    def __init__(self, providers: OpenIDProviders, directory: Directory, clock: Clock) -> None:
        self._providers = providers
        self._directory = directory
        self._clock = clock
        self._verified: dict[bytes, tuple[float, Provider, VerifiedClaims]] = {}

    def authenticate(self, token: str, request_id: str) -> Bearer:
        """Return who the token stands for; a person's first call makes their user.

        Raises:
            NotSignedInError: the token is not a valid access token of a connected provider.
            UnknownClientError: its client is not in the org's registry.

        """
        provider, claims = self._verify(token)
        client = self._client(provider, claims)
        subject = str(claims["sub"])
        user_id = self._directory.resolve_user(
            provider, subject, claims, client=client.client_id, request_id=request_id
        )
        rights = rights_from_claims(provider.org_id, claims)
        identity = Identity(provider.org_id, user_id, rights.roles, rights.team_ids, rights.led_team_ids)
        scopes = effective_scopes(client.kind, client.scopes, identity)
        return Bearer(provider, identity, client, scopes, _text(claims.get("name")), _text(claims.get("email")))

    def _verify(self, token: str) -> tuple[Provider, VerifiedClaims]:
        now = self._clock.credential_now().timestamp()
        key = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        kept = self._verified.get(key)
        if kept and kept[0] > now:
            return kept[1], kept[2]
        if len(token) > TOKEN_CHARACTERS_AT_MOST:
            raise NotSignedInError("The access token is too long to be one.")
        provider = self._find_provider(_unverified_claims(token))
        try:
            claims = self._providers.verify(token, provider, audience=provider.audience, types=ACCESS_TOKEN_TYPES)
        except SignInRefusedError as error:
            raise NotSignedInError(error.detail) from error
        if len(self._verified) >= _REMEMBERED_AT_MOST:
            self._verified.clear()
        self._verified[key] = (min(now + _REMEMBERED_SECONDS, float(claims["exp"])), provider, claims)
        return provider, claims

    def _find_provider(self, claims: dict[str, Any]) -> Provider:
        """Choose the org by issuer, audience and claim; the signature is checked against its issuer afterwards."""
        issuer, named = claims.get("iss"), claims.get("aud")
        audiences = [named] if isinstance(named, str) else named if isinstance(named, list) else []
        if isinstance(issuer, str) and issuer and "\0" not in issuer:
            fitting = [
                provider
                for provider in self._directory.find_token_providers(issuer)
                if provider.audience in audiences and provider.claims_belong(claims)
            ]
            if len(fitting) == 1:
                return fitting[0]
        raise NotSignedInError("The access token is not of an identity provider that is connected here.")

    def _client(self, provider: Provider, claims: VerifiedClaims) -> Client:
        names = {claims[name] for name in ("client_id", "azp") if isinstance(claims.get(name), str)}
        if len(names) != 1 or "\0" in (client_id := names.pop()):
            raise NotSignedInError("The access token does not say which client it was issued to.")
        client = self._directory.find_client(provider.org_id, client_id)
        if client is None:
            raise UnknownClientError(client_id)
        return client


def _unverified_claims(token: str) -> dict[str, Any]:
    """Read the payload before the signature is checked, only to learn whose keys to check it with."""
    try:
        payload = jws.extract_compact(token.encode("ascii")).payload
        claims = json.loads(payload)
    except (JoseError, ValueError, UnicodeError, RecursionError) as error:
        raise NotSignedInError("The access token can't be read.") from error
    if not isinstance(claims, dict):
        raise NotSignedInError("The access token can't be read.")
    return claims


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
