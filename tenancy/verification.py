"""Tokens of identity providers: a signature by one of the provider's keys, and claims that are what they should be.

Only the algorithms listed here count, whatever a provider lists; keys come from the provider's JWK set alone, and a
header that names or brings one (`jwk`, `jku`, `x5u`, `x5c`) changes nothing (RFC 8725 sections 3.1 and 3.10).
"""

import json
from collections.abc import Mapping
from typing import Any, NewType

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwt import ClaimsOption

from tenancy.clock import Clock
from tenancy.discovery import Discovery, Keys, PublicKey
from tenancy.errors import MalformedError

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA", "Ed25519")
LEEWAY_SECONDS = 10
FRESH_SECONDS = 300
"""How old a token may be that was made for one moment: an ID token as it arrives, and a logout token."""

TEXT_CHARACTERS_AT_MOST = 255  # OpenID Connect Core 2: a subject is not longer
_HEADER_BYTES_AT_MOST = 8_192
_LAST_SECOND = 253_402_300_800  # of the year 9999
_TIMES = ("exp", "iat", "nbf", "auth_time")
_KEY_TYPES = {"RS256": "RSA", "PS256": "RSA", "ES256": "EC", "EdDSA": "OKP", "Ed25519": "OKP"}

VerifiedClaims = NewType("VerifiedClaims", dict[str, Any])
"""Claims of a token whose signature, issuer, audience and times were checked."""


class SignInRefusedError(MalformedError):
    """A sign-in can't be completed: it is unknown, over, or its answer is not the provider's."""

    code = "sign_in_refused"
    title = "This sign-in can't be completed"


class _SignedTokens(jws.JWSRegistry):
    """What a signed token may look like: headers may be longer than the library's limit, and hold names of others."""

    max_header_length = _HEADER_BYTES_AT_MOST

    def __init__(self) -> None:
        super().__init__(algorithms=ALGORITHMS, strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        # The library warns of EdDSA, which RFC 9864 renamed and providers still use; any token could set that off.
        return self.algorithms[name]


SIGNED_TOKENS = _SignedTokens()
"""How long the parts of a token may be, and which algorithms count; for reading one before it is checked."""


class TokenVerifier:
    """Checks what every kind of token must fulfil."""

    def __init__(self, clock: Clock, discovery: Discovery) -> None:
        self._clock = clock
        self._discovery = discovery

    def check(
        self, token: str, issuer: str, *, audience: str, types: tuple[str, ...] | None, required: tuple[str, ...]
    ) -> VerifiedClaims:
        """Check signature, type, issuer, audience and times, and return the claims.

        `types` are the values that the header `typ` may have, in small letters, `""` where it may be missing; None
        takes any. `required` claims are there and not null; `iss` and `iat` always are.

        Raises:
            SignInRefusedError: something of it is not right.
            ProviderUnavailableError: the provider's keys can't be read.

        """
        try:
            signed = jws.extract_compact(token.encode("ascii"), registry=SIGNED_TOKENS)
            header = _header_of(signed)
            self._check_signature(signed, header, issuer)
            content = json.loads(signed.payload)
            if not isinstance(content, dict):
                raise SignInRefusedError("The token holds no claims.")
            claims = VerifiedClaims(content)
            jwt.JWTClaimsRegistry(
                now=int(self._now()),
                leeway=LEEWAY_SECONDS,
                iss={"essential": True, "value": issuer},
                iat={"essential": True},
                **{name: ClaimsOption(essential=True) for name in required},
            ).validate(claims)
        except (JoseError, ValueError, TypeError, RecursionError) as error:
            raise SignInRefusedError("The token is not valid: wrong signature, issuer or time.") from error
        if not is_well_formed(claims):
            raise SignInRefusedError("The token holds something that is not text or not a number.")
        if types is not None and str(header.get("typ", "")).lower() not in types:
            raise SignInRefusedError("The token is of another type than the one that belongs here.")
        if audience not in audiences_of(claims):
            raise SignInRefusedError("The token was issued for another audience.")
        return claims

    def age_of(self, claims: VerifiedClaims) -> float:
        """Return how many seconds ago a token was issued."""
        return self._now() - float(claims["iat"])

    def _check_signature(self, signed: jws.CompactSignature, header: Mapping[str, Any], issuer: str) -> None:
        """Check with the keys that are known; when none fits, they are read again, at most every 10 s."""
        keys = self._discovery.keys(issuer)
        if _is_signed_by(signed, header, keys):
            return
        newer = self._discovery.newer_keys(issuer, keys)
        if newer is keys or not _is_signed_by(signed, header, newer):
            raise SignInRefusedError("The token is not signed with a key that is known here.")

    def _now(self) -> float:
        return self._clock.credential_now().timestamp()


def is_well_formed(claims: Mapping[str, Any]) -> bool:
    """Return whether claims hold valid Unicode and finite numbers alone, and times from 1970 to the year 9999."""
    try:
        json.dumps(claims, ensure_ascii=False, allow_nan=False).encode()
        return all(0 <= float(claims[name]) < _LAST_SECOND for name in _TIMES if name in claims)
    except (ArithmeticError, TypeError, ValueError, RecursionError):
        return False


def is_name(value: Any) -> bool:
    """Return whether a value can name somebody or something: text of 1 to 255 characters without NUL."""
    return isinstance(value, str) and 1 <= len(value) <= TEXT_CHARACTERS_AT_MOST and "\0" not in value


def audiences_of(claims: Mapping[str, Any]) -> list[Any]:
    """Return whom a token was issued for."""
    named = claims.get("aud")
    return [named] if isinstance(named, str) else named if isinstance(named, list) else []


def authorized_party_is(claims: Mapping[str, Any], client_id: str) -> bool:
    """Return whether an ID token was issued to the client (OpenID Connect Core 3.1.3.7, steps 4 and 5)."""
    party = claims.get("azp")
    return party == client_id or (party is None and len(audiences_of(claims)) == 1)


def _header_of(signed: jws.CompactSignature) -> Mapping[str, Any]:
    """Return the header, if it asks for nothing that is not done here (RFC 7515 section 4.1.11, RFC 7797)."""
    header: Any = signed.protected
    if not isinstance(header, dict) or header.get("alg") not in _KEY_TYPES:
        raise SignInRefusedError("The token is not signed with an algorithm that counts here.")
    if "crit" in header or "b64" in header:
        raise SignInRefusedError("The token asks for an extension that is not known here.")
    return header


def _is_signed_by(signed: jws.CompactSignature, header: Mapping[str, Any], keys: Keys) -> bool:
    key = _choose_key(header, keys)
    return key is not None and jws.validate_compact(signed, key, registry=SIGNED_TOKENS)


def _choose_key(header: Mapping[str, Any], keys: Keys) -> PublicKey | None:
    """Return the key that a token names; one that names none must leave no choice (OpenID Connect Core 10.1)."""
    algorithm, key_id = header["alg"], header.get("kid")
    fitting = [key for key in keys if key.key_type == _KEY_TYPES[algorithm] and key.alg in (None, algorithm)]
    if key_id is None:
        return fitting[0] if len(fitting) == 1 else None
    return next((key for key in fitting if key.kid == key_id), None)
