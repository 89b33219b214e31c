"""What an admin is told about an identity provider before people sign in through it: each point in a sentence.

The sentences hold nothing of what an address answered, and a host that may not be visited, does not exist or does not
answer reads the same, so that nobody learns from them what else there is in the network that Keepline runs in.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from tenancy.discovery import (
    DISCOVERY_PATH,
    endpoint_of,
    issuer_address_fault,
    issuer_fault,
    keys_from,
    strings_of,
)
from tenancy.fetch import Fetcher
from tenancy.refreshed import ProviderUnavailableError

_ENDPOINTS = {
    "authorization_endpoint": "sign-in page",
    "token_endpoint": "token endpoint",
    "jwks_uri": "address of the keys",
}


@dataclass(frozen=True)
class Finding:
    """One point that was checked; the sentence says what to do where it is not in order."""

    ok: bool
    subject: str
    sentence: str


def examine_provider(issuer: str, fetcher: Fetcher) -> list[Finding]:
    """Read a provider's discovery document and keys now and return what was found, in the order of checking.

    What can't be checked, because what it stands on is missing, is left out.
    """
    return list(_findings(issuer, fetcher))


def _findings(issuer: str, fetcher: Fetcher) -> Iterator[Finding]:
    fault = issuer_address_fault(issuer, fetcher.may_visit)
    if fault is not None:
        yield Finding(False, "Address", f"{fault} Enter the issuer as your identity provider names it.")
        return
    yield Finding(True, "Address", "The issuer is an address that may be visited.")
    answered = _read(fetcher, issuer.rstrip("/") + DISCOVERY_PATH)
    document = answered.document
    if document is None:
        yield _unread("Discovery document", answered.reached)
        return
    yield Finding(True, "Discovery document", "The identity provider answers with a discovery document.")
    fault = issuer_fault(document, issuer)
    yield Finding(fault is None, "Issuer", fault or "The discovery document names exactly the issuer that you entered.")
    usable = {}
    for name, title in _ENDPOINTS.items():
        try:
            usable[name] = endpoint_of(document, name, fetcher.may_visit)
        except ProviderUnavailableError:
            yield Finding(
                False, name, f"The discovery document has no https address for the {title} ({name}). Without it, "
                "nobody can sign in; your identity provider's support can say why it is missing.",
            )  # fmt: skip
        else:
            yield Finding(True, name, f"The discovery document has the {title}.")
    if "jwks_uri" in usable:
        yield _examine_keys(fetcher, usable["jwks_uri"])
    yield from _examine_features(document)


def _examine_keys(fetcher: Fetcher, address: str) -> Finding:
    answered = _read(fetcher, address)
    if answered.document is None:
        return _unread("Keys", answered.reached)
    count = len(keys_from(answered.document))
    if not count:
        return Finding(
            False, "Keys", "The identity provider publishes no key that signatures can be checked with. Let it sign "
            "with RS256, PS256, ES256 or EdDSA; an RSA key needs at least 2048 bits.",
        )  # fmt: skip
    return Finding(True, "Keys", f"{count} {'key' if count == 1 else 'keys'} can be used to check signatures.")


def _examine_features(document: Mapping[str, Any]) -> Iterator[Finding]:
    if "code_challenge_methods_supported" in document:
        has_pkce = "S256" in strings_of(document, "code_challenge_methods_supported")
        yield _either(
            has_pkce,
            "PKCE",
            "Sign-ins are protected by PKCE with S256.",
            "The identity provider does not list PKCE with S256, which every sign-in here uses. Turn it on there.",
        )
    yield _either(
        "code" in strings_of(document, "response_types_supported"),
        "Response type",
        "The identity provider offers the authorization code flow.",
        "The identity provider does not list the response type code, which sign-ins here use. Turn it on there.",
    )
    yield _either(
        document.get("authorization_response_iss_parameter_supported") is True,
        "Issuer in answers",
        "Answers name the identity provider they come from (RFC 9207).",
        "Answers do not name the identity provider they come from (RFC 9207). Sign-ins work; turn it on where your "
        "identity provider offers it.",
    )
    yield _either(
        document.get("backchannel_logout_supported") is True,
        "Back-channel logout",
        "Signing out at the identity provider can end sessions here at once.",
        "The identity provider does not list back-channel logout. A session here ends by its own time limits or when "
        "it is renewed; turn back-channel logout on where your identity provider offers it.",
    )
    yield _either(
        "offline_access" in strings_of(document, "scopes_supported"),
        "Refresh",
        "Sessions can be renewed, so that changed roles count without a new sign-in (offline_access).",
        "The identity provider does not list the scope offline_access, so changed roles count from the next sign-in. "
        "Turn it on where your identity provider offers it.",
    )


@dataclass(frozen=True)
class _Answer:
    document: Mapping[str, Any] | None
    reached: bool


def _read(fetcher: Fetcher, address: str) -> _Answer:
    try:
        return _Answer(fetcher.get_json(address), True)
    except (httpx2.HTTPStatusError, ValueError):
        return _Answer(None, True)
    except httpx2.HTTPError:
        return _Answer(None, False)


def _unread(subject: str, reached: bool) -> Finding:
    if reached:
        return Finding(
            False, subject, "The address answers, but not with a JSON document. Check that the issuer is complete: "
            "many identity providers have a path for each tenant.",
        )  # fmt: skip
    return Finding(
        False, subject, "The address can't be read. It must be on the public internet, have a valid certificate, and "
        "answer within 15 seconds with less than 1 MB, without a redirect.",
    )  # fmt: skip


def _either(ok: bool, subject: str, good: str, bad: str) -> Finding:
    return Finding(ok, subject, good if ok else bad)
