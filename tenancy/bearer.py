"""Bearer tokens: JWT access tokens (RFC 9068) of an org's provider, verified and turned into a caller."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError

from tenancy.clients import Client, Kind, effective_scopes, role_scopes
from tenancy.clock import Clock
from tenancy.errors import NotSignedInError, UnknownClientError
from tenancy.identity import Identity, TokenOrigin
from tenancy.oidc import OpenIDProviders, SignInRefusedError, VerifiedClaims, is_well_formed
from tenancy.providers import Directory, Provider
from tenancy.remembered import Remembered
from tenancy.roles import rights_from_claims
from tenancy.verification import SIGNED_TOKENS

ACCESS_TOKEN_TYPES = ("at+jwt", "application/at+jwt")
TOKEN_CHARACTERS_AT_MOST = 16_384
ROLES_SECONDS = 900
"""How old a token may be for the scopes that roles give: whoever lost a role keeps them no longer."""
_BEARER_SECONDS = 2.0
_SIGNATURE_SECONDS = 60.0


@dataclass(frozen=True)
class Bearer:
    """What a valid access token says: who acts for whom, and what the call may do.

    `lapsed_scopes` are those that a younger token of this person and client would hold.
    """

    provider: Provider
    identity: Identity
    client: Client
    scopes: frozenset[str]
    lapsed_scopes: frozenset[str]
    claims: VerifiedClaims
    person_name: str | None
    person_email: str | None


class BearerTokens:
    """Verifies access tokens; what a token stands for is remembered for 2 s, and never past its `exp`.

    A verified signature is remembered for 60 s. A revoked client and a person who signed out are refused at once all
    the same: the database looks again as each transaction is bound (tenancy.admit).
    """

    def __init__(self, providers: OpenIDProviders, directory: Directory, clock: Clock) -> None:
        self._providers = providers
        self._directory = directory
        self._clock = clock
        self._bearers: Remembered[Bearer] = Remembered(clock)
        self._verified: Remembered[VerifiedClaims] = Remembered(clock)

    def authenticate(self, token: str, request_id: str) -> Bearer:
        """Return who the token stands for; a person's first call makes their user.

        Raises:
            NotSignedInError: the token is not a valid access token of a connected provider.
            UnknownClientError: its client is not in the org's registry.

        """
        key = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        known = self._bearers.recall(key)
        if known is not None:
            return known
        provider, claims = self._verify(key, token)
        client = self._client(provider, claims)
        rights = rights_from_claims(provider.org_id, claims, provider.rules)
        subject = str(claims["sub"])
        user_id = self._directory.resolve_user(
            provider, subject, claims, client=client.client_id, request_id=request_id
        )
        origin = TokenOrigin(int(claims["iat"]), client.client_id)
        identity = Identity(provider.org_id, user_id, team_ids=rights.team_ids, origin=origin)
        lapsed: frozenset[str] = frozenset()
        if client.kind is Kind.USER and self._is_young(claims):
            identity = replace(identity, roles=rights.roles, led_team_ids=rights.led_team_ids)
        elif client.kind is Kind.USER:
            lapsed = client.scopes & role_scopes(rights.roles, rights.led_team_ids)
        scopes = effective_scopes(client.kind, client.scopes, identity)
        person_name, person_email = _text(claims.get("name")), _text(claims.get("email"))
        bearer = Bearer(provider, identity, client, scopes, lapsed, claims, person_name, person_email)
        return self._bearers.keep(key, bearer, min(_BEARER_SECONDS, self._seconds_left(claims)))

    def _verify(self, key: bytes, token: str) -> tuple[Provider, VerifiedClaims]:
        known = self._verified.recall(key)
        if known is not None:
            return self._find_provider(known), known
        if len(token) > TOKEN_CHARACTERS_AT_MOST:
            raise NotSignedInError("The access token is too long to be one.")
        provider = self._find_provider(unverified_claims(token))
        try:
            claims = self._providers.verify(token, provider, audience=provider.audience, types=ACCESS_TOKEN_TYPES)
        except SignInRefusedError as error:
            raise NotSignedInError(error.detail) from error
        return provider, self._verified.keep(key, claims, min(_SIGNATURE_SECONDS, self._seconds_left(claims)))

    def _is_young(self, claims: VerifiedClaims) -> bool:
        return float(claims["iat"]) > self._clock.credential_now().timestamp() - ROLES_SECONDS

    def _seconds_left(self, claims: VerifiedClaims) -> float:
        return float(claims["exp"]) - self._clock.credential_now().timestamp()

    def _find_provider(self, claims: Mapping[str, Any]) -> Provider:
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


def unverified_claims(token: str) -> dict[str, Any]:
    """Read the payload before the signature is checked, only to learn whose keys to check it with."""
    try:
        payload = jws.extract_compact(token.encode("ascii"), registry=SIGNED_TOKENS).payload
        claims = json.loads(payload)
    except (JoseError, ValueError, UnicodeError, RecursionError) as error:
        raise NotSignedInError("The access token can't be read.") from error
    if not isinstance(claims, dict) or not is_well_formed(claims):
        raise NotSignedInError("The access token can't be read.")
    return claims


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
