"""What an identity provider publishes: its discovery document and its keys, read with nothing taken on trust.

OpenID Connect Discovery 1.0 section 4.3: the issuer in the document is exactly the one that was configured.
"""

from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from cryptography.exceptions import UnsupportedAlgorithm
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from tenancy.breaker import READS_AT_ONCE, Places
from tenancy.clock import Clock
from tenancy.fetch import Fetcher
from tenancy.refreshed import ProviderUnavailableError, Refreshed

DISCOVERY_PATH = "/.well-known/openid-configuration"
KEYS_AT_MOST = 100
_RSA_BITS = range(2048, 8193)

PublicKey = RSAKey | ECKey | OKPKey
Keys = tuple[PublicKey, ...]


@dataclass(frozen=True)
class Metadata:
    """What Keepline uses of a provider's discovery document."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    sends_issuer: bool
    offers_refresh: bool
    takes_secret_in_body: bool


class Discovery:
    """Reads and keeps what providers publish."""

    def __init__(self, clock: Clock, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self.places = Places(clock, READS_AT_ONCE)
        self._metadata = Refreshed(clock, self._read_metadata)
        self._keys = Refreshed(clock, self._read_keys)

    def metadata(self, issuer: str) -> Metadata:
        """Return the provider's metadata, read again after an hour.

        Raises:
            ProviderUnavailableError: no answer, or a document of another issuer.

        """
        return self._metadata.get(issuer)

    def keys(self, issuer: str) -> Keys:
        """Return the keys that the provider signs with, read again after an hour.

        Raises:
            ProviderUnavailableError: no answer, or none with a usable key.

        """
        return self._keys.get(issuer)

    def newer_keys(self, issuer: str, known: Keys) -> Keys:
        """Return the keys read again, at most every 10 s; those known stay in force until new ones are there.

        Raises:
            NotAskedError: they are being read and that takes long.

        """
        return self._keys.get_newer(issuer, known)

    def _read_metadata(self, issuer: str) -> Metadata:
        fault = issuer_address_fault(issuer, self._fetcher.may_visit)
        if fault is not None:
            raise ProviderUnavailableError(fault)
        return metadata_from(self._get(issuer.rstrip("/") + DISCOVERY_PATH), issuer, self._fetcher.may_visit)

    def _read_keys(self, issuer: str) -> Keys:
        keys = keys_from(self._get(self.metadata(issuer).jwks_uri))
        if not keys:
            raise ProviderUnavailableError(f"{issuer} publishes no key that signatures can be checked with.")
        return keys

    def _get(self, address: str) -> dict[str, Any]:
        try:
            with self.places.taken():
                return self._fetcher.get_json(address)
        except (httpx2.HTTPError, ValueError) as error:
            raise ProviderUnavailableError(
                f"The identity provider does not answer as it should at {address}. Try again shortly."
            ) from error


def issuer_address_fault(issuer: str, may_visit: Callable[[str], bool]) -> str | None:
    """Return what is wrong with an issuer's address, or None; Discovery 1.0 section 3: https, no query, no fragment."""
    if not may_visit(issuer):
        return "The issuer is not an https address, so it is not visited."
    parts = urlsplit(issuer)
    if parts.query or parts.fragment or issuer.endswith(("?", "#")):
        return "The issuer has a query or a fragment, which an issuer never has."
    return None


def issuer_fault(document: Mapping[str, Any], issuer: str) -> str | None:
    """Return in words how a discovery document's issuer differs from the configured one, or None when it doesn't."""
    named = document.get("issuer")
    if named == issuer:
        return None
    if not isinstance(named, str) or not named:
        return "The discovery document names no issuer, so it is not known whose it is and it is not used."
    if named.rstrip("/") == issuer.rstrip("/"):
        return (
            "The issuer in the discovery document differs by a slash at its end. Issuers are compared letter by "
            "letter: enter it exactly as the identity provider names it."
        )
    if "{" in named:
        return (
            "The discovery document is for all tenants of the identity provider and names a template as its issuer. "
            "Enter the issuer of your own tenant, which holds its id."
        )
    return (
        "The discovery document names another issuer, so it is not used. Enter the issuer exactly as the identity "
        "provider names it."
    )


def metadata_from(document: Mapping[str, Any], issuer: str, may_visit: Callable[[str], bool]) -> Metadata:
    """Return what a discovery document says.

    Raises:
        ProviderUnavailableError: it is of another issuer, or an endpoint is missing or not visited.

    """
    fault = issuer_fault(document, issuer)
    if fault is not None:
        raise ProviderUnavailableError(fault)
    secret_goes = strings_of(document, "token_endpoint_auth_methods_supported")
    return Metadata(
        issuer=issuer,
        authorization_endpoint=endpoint_of(document, "authorization_endpoint", may_visit),
        token_endpoint=endpoint_of(document, "token_endpoint", may_visit),
        jwks_uri=endpoint_of(document, "jwks_uri", may_visit),
        sends_issuer=document.get("authorization_response_iss_parameter_supported") is True,
        offers_refresh="offline_access" in strings_of(document, "scopes_supported"),
        takes_secret_in_body="client_secret_post" in secret_goes and "client_secret_basic" not in secret_goes,
    )


def endpoint_of(document: Mapping[str, Any], name: str, may_visit: Callable[[str], bool]) -> str:
    """Return an endpoint's address.

    Raises:
        ProviderUnavailableError: it is missing, or of a kind that is not visited.

    """
    address = document.get(name)
    if not isinstance(address, str) or not may_visit(address):
        raise ProviderUnavailableError(f"The identity provider's discovery document has no usable {name}.")
    return address


def strings_of(document: Mapping[str, Any], name: str) -> frozenset[str]:
    """Return the texts of a list in a discovery document; anything else in its place holds none."""
    listed = document.get(name)
    return frozenset(entry for entry in listed if isinstance(entry, str)) if isinstance(listed, list) else frozenset()


def keys_from(document: Mapping[str, Any]) -> Keys:
    """Return the keys of a JWK set that signatures are checked with; others are passed over (RFC 7517 section 5).

    Passed over are keys that can't be read, are for encryption, are secret or private, RSA keys under 2048 bits, and
    what follows the first 100.
    """
    listed = document.get("keys")
    entries = listed[:KEYS_AT_MOST] if isinstance(listed, list) else []
    return tuple(key for key in map(_usable_key, entries) if key is not None)


def _usable_key(entry: Any) -> PublicKey | None:
    if not isinstance(entry, dict) or "d" in entry or entry.get("use", "sig") != "sig":
        return None
    try:
        key = _import_key(entry)
    except (JoseError, UnsupportedAlgorithm, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None
    operations = entry.get("key_ops", ["verify"])
    return key if isinstance(operations, list) and "verify" in operations else None


def _import_key(entry: dict[str, Any]) -> PublicKey | None:
    kind, curve = entry.get("kty"), entry.get("crv")
    if kind == "RSA":
        return RSAKey.import_key(entry) if _bits_of(entry["n"]) in _RSA_BITS else None
    if kind == "EC" and curve == "P-256":
        return ECKey.import_key(entry)
    if kind == "OKP" and curve == "Ed25519":
        return OKPKey.import_key(entry)
    return None


def _bits_of(number: str) -> int:
    """Return the length of a number in base64url, as RSA keys hold it; nothing is computed with one that is huge."""
    if len(number) > _RSA_BITS.stop // 6 + 1:
        return _RSA_BITS.stop
    return int.from_bytes(urlsafe_b64decode(number + "==")).bit_length()
