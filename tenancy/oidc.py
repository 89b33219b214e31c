"""OpenID Connect as a relying party: discovery, keys, sign-in with PKCE, and checks that leave nothing to defaults.

The issuer is pinned from configuration and compared in the discovery document, in the ID token and in the callback
(RFC 9207). Every request to a provider has a time and a size limit and follows no redirect.
"""

import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NewType
from urllib.parse import urlsplit

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from tenancy.clock import Clock
from tenancy.errors import MalformedError, UnavailableError
from tenancy.fetch import bounded_client_options
from tenancy.keys import SecretBox
from tenancy.providers import Provider

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
LEEWAY_SECONDS = 10
_METADATA_SECONDS = 3600
_REFETCH_SECONDS = 10
_SUBJECT_CHARACTERS = 255  # OpenID Connect Core 2: a subject is not longer
_LAST_SECOND = 253_402_300_800  # of the year 9999

VerifiedClaims = NewType("VerifiedClaims", dict[str, Any])
"""Claims of a token whose signature, issuer, audience and times were checked."""


class ProviderUnavailableError(UnavailableError):
    """The identity provider does not answer, or not as OpenID Connect asks."""

    code = "provider_unavailable"
    title = "The identity provider does not answer as it should"


class SignInRefusedError(MalformedError):
    """A sign-in can't be completed: it is unknown, over, or its answer is not the provider's."""

    code = "sign_in_refused"
    title = "This sign-in can't be completed"


@dataclass(frozen=True)
class Metadata:
    """What Keepline uses of a provider's discovery document."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    sends_issuer: bool


@dataclass(frozen=True)
class SignIn:
    """A sign-in under way: what the callback must match."""

    state: str
    nonce: str
    code_verifier: str
    org_slug: str
    return_to: str


class OpenIDProviders:
    """Talks to identity providers; discovery documents and keys are kept per process."""

    def __init__(self, clock: Clock, box: SecretBox, *, allow_loopback: bool) -> None:
        self._clock = clock
        self._box = box
        self._allow_loopback = allow_loopback
        self._metadata: dict[str, tuple[float, Metadata]] = {}
        self._keys: dict[str, tuple[float, KeySet]] = {}
        self._keys_asked_at: dict[str, float] = {}

    def discover(self, issuer: str) -> Metadata:
        """Return the provider's metadata, read again after an hour.

        Raises:
            ProviderUnavailableError: no answer, or a document of another issuer.

        """
        kept = self._metadata.get(issuer)
        if kept and kept[0] > self._now():
            return kept[1]
        document = self._get(issuer.rstrip("/") + "/.well-known/openid-configuration")
        if document.get("issuer") != issuer:
            raise ProviderUnavailableError(
                f"The discovery document of {issuer} names another issuer, so it is not used. An admin can check the "
                "provider's address."
            )
        metadata = Metadata(
            issuer=issuer,
            authorization_endpoint=self._endpoint(document, "authorization_endpoint"),
            token_endpoint=self._endpoint(document, "token_endpoint"),
            jwks_uri=self._endpoint(document, "jwks_uri"),
            sends_issuer=document.get("authorization_response_iss_parameter_supported") is True,
        )
        self._metadata[issuer] = (self._now() + _METADATA_SECONDS, metadata)
        return metadata

    def begin(self, provider: Provider, redirect_uri: str, return_to: str) -> tuple[str, SignIn]:
        """Return the address to send the browser to, and what to keep until the callback."""
        metadata = self.discover(provider.issuer)
        state, nonce, code_verifier = (secrets.token_urlsafe(32) for _ in range(3))
        sign_in = SignIn(state, nonce, code_verifier, provider.org_slug, return_to)
        with self._client(provider, redirect_uri) as client:
            address, _ = client.create_authorization_url(
                metadata.authorization_endpoint,
                state=sign_in.state,
                nonce=sign_in.nonce,
                code_verifier=sign_in.code_verifier,
            )
        return str(address), sign_in

    def finish(
        self, provider: Provider, redirect_uri: str, sign_in: SignIn, answer: Mapping[str, str]
    ) -> VerifiedClaims:
        """Exchange the code of a callback and return the claims of the ID token.

        Raises:
            SignInRefusedError: the answer, the exchange or the ID token is not right.
            ProviderUnavailableError: the provider does not answer.

        """
        metadata = self.discover(provider.issuer)
        named = answer.get("iss")
        if (named is None and metadata.sends_issuer) or (named is not None and named != provider.issuer):
            raise SignInRefusedError("The answer comes from another identity provider than the one you went to.")
        if "error" in answer or not answer.get("code"):
            raise SignInRefusedError("The identity provider did not sign you in. You can try again.")
        with self._client(provider, redirect_uri) as client:
            try:
                token = client.fetch_token(
                    metadata.token_endpoint,
                    grant_type="authorization_code",
                    code=answer["code"],
                    code_verifier=sign_in.code_verifier,
                )
            except OAuthError as error:
                raise SignInRefusedError("The identity provider refused the sign-in. You can try again.") from error
            except (httpx2.HTTPError, ValueError, RecursionError) as error:
                raise ProviderUnavailableError("The identity provider did not answer. Try again shortly.") from error
        id_token = token.get("id_token")
        if not isinstance(id_token, str):
            raise SignInRefusedError("The identity provider sent no ID token.")
        claims = self.verify(id_token, provider, audience=provider.client_id)
        if not _authorized_party_is(claims, provider.client_id):
            raise SignInRefusedError("The ID token was issued to another client.")
        if not hmac.compare_digest(str(claims.get("nonce") or "").encode(), sign_in.nonce.encode()):
            raise SignInRefusedError("The ID token belongs to another sign-in.")
        return claims

    def verify(
        self, token: str, provider: Provider, *, audience: str, types: tuple[str, ...] | None = None
    ) -> VerifiedClaims:
        """Check a JWT of the provider and return its claims.

        Raises:
            SignInRefusedError: signature, type, issuer, audience, times, subject or the org's claim is not right.

        """
        try:
            decoded = self._decode(token, provider.issuer)
            claims = VerifiedClaims(dict(decoded.claims))
            jwt.JWTClaimsRegistry(
                now=int(self._now()),
                leeway=LEEWAY_SECONDS,
                iss={"essential": True, "value": provider.issuer},
                sub={"essential": True},
                exp={"essential": True},
                iat={"essential": True},
            ).validate(decoded.claims)
        except (JoseError, ValueError, RecursionError) as error:
            raise SignInRefusedError("The token is not valid: wrong signature, issuer or time.") from error
        if not is_well_formed(claims):
            raise SignInRefusedError("The token holds something that is not text or not a number.")
        if types is not None and str(decoded.header.get("typ", "")).lower() not in types:
            raise SignInRefusedError("The token is of another type than the one that belongs here.")
        if audience not in _audiences(claims):
            raise SignInRefusedError("The token was issued for another audience.")
        subject = claims.get("sub")
        named = isinstance(subject, str) and 1 <= len(subject) <= _SUBJECT_CHARACTERS and "\0" not in subject
        if not named or not provider.claims_belong(claims):
            raise SignInRefusedError("The token does not say whose it is.")
        return claims

    def _decode(self, token: str, issuer: str) -> jwt.Token:
        """Verify the signature; a key id not met before makes the keys be read again, at most every 10 s."""
        try:
            return jwt.decode(token, self._key_set(issuer), algorithms=list(ALGORITHMS))
        except JoseError:
            if self._keys_asked_at[issuer] + _REFETCH_SECONDS >= self._now():
                raise
        try:
            keys = self._fetch_keys(issuer)
        except ProviderUnavailableError as error:
            raise SignInRefusedError("The token is not signed with a key that is known here.") from error
        return jwt.decode(token, keys, algorithms=list(ALGORITHMS))

    def _key_set(self, issuer: str) -> KeySet:
        kept = self._keys.get(issuer)
        return kept[1] if kept and kept[0] > self._now() else self._fetch_keys(issuer)

    def _fetch_keys(self, issuer: str) -> KeySet:
        """Read the keys; those known so far stay in force until new ones are there."""
        self._keys_asked_at[issuer] = self._now()
        document = self._get(self.discover(issuer).jwks_uri)
        try:
            keys = KeySet.import_key_set({"keys": document["keys"]})
        except (JoseError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise ProviderUnavailableError(f"The keys of {issuer} can't be read.") from error
        self._keys[issuer] = (self._now() + _METADATA_SECONDS, keys)
        return keys

    def _client(self, provider: Provider, redirect_uri: str) -> OAuth2Client:
        secret = provider.opened_secret(self._box)
        return OAuth2Client(
            provider.client_id,
            secret,
            scope=provider.scopes,
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            **bounded_client_options(),
        )

    def _get(self, address: str) -> dict[str, Any]:
        if not self._may_visit(address):
            raise ProviderUnavailableError(f"{address} is not an https address, so it is not visited.")
        try:
            with httpx2.Client(**bounded_client_options()) as client:
                document = client.get(address).raise_for_status().json()
        except (httpx2.HTTPError, ValueError, RecursionError) as error:
            raise ProviderUnavailableError(
                f"The identity provider does not answer at {address}. Try again shortly."
            ) from error
        if not isinstance(document, dict):
            raise ProviderUnavailableError(f"The answer of {address} is not a JSON object.")
        return document

    def _endpoint(self, document: Mapping[str, Any], name: str) -> str:
        address = document.get(name)
        if not isinstance(address, str) or not self._may_visit(address):
            raise ProviderUnavailableError(f"The identity provider's discovery document has no usable {name}.")
        return address

    def _may_visit(self, address: str) -> bool:
        try:
            parts = urlsplit(address)
        except ValueError:
            return False
        loopback = parts.hostname in ("127.0.0.1", "localhost", "::1")
        return parts.scheme == "https" or (self._allow_loopback and parts.scheme == "http" and loopback)

    def _now(self) -> float:
        return self._clock.credential_now().timestamp()


def is_well_formed(claims: Mapping[str, Any]) -> bool:
    """Return whether claims hold valid Unicode and finite numbers alone, as JSON of other parsers would."""
    try:
        json.dumps(claims, ensure_ascii=False, allow_nan=False).encode()
        return all(float(claims[name]) < _LAST_SECOND for name in ("exp", "iat", "nbf") if name in claims)
    except (ArithmeticError, TypeError, ValueError, RecursionError):
        return False


def _audiences(claims: Mapping[str, Any]) -> list[Any]:
    named = claims.get("aud")
    return [named] if isinstance(named, str) else named if isinstance(named, list) else []


def _authorized_party_is(claims: Mapping[str, Any], client_id: str) -> bool:
    """Return whether an ID token was issued to the client (OpenID Connect Core 3.1.3.7, steps 4 and 5)."""
    party = claims.get("azp")
    return party == client_id or (party is None and len(_audiences(claims)) == 1)
