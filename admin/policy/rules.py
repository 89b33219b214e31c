"""Rules of an org's policy: the settings there are, their defaults, and what a domain is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

DOMAINS_AT_MOST = 200
RETENTION_DAYS = range(1, 3651)
MODEL_WRITES = ("direct", "confirm")
_DOMAIN_CHARACTERS = 253
_SHOWN_CHARACTERS = 80
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True)
class Policy:
    """What an org decided; the defaults are what holds before it decides anything.

    `retention` is in days. `updated_at` is None before the first change.
    """

    memory_default: bool = True
    model_writes: str = "direct"
    allowed_domains: tuple[str, ...] = ()
    extraction: bool = True
    retention: int = 365
    llm_consent: bool = False
    updated_at: datetime | None = None


SETTINGS = ("memory_default", "model_writes", "allowed_domains", "extraction", "retention", "llm_consent")


class NotDomainError(ValueError):
    """An entry is not a domain's name, or there are too many; the message names the entry."""


def read_domains(entries: Sequence[str]) -> tuple[str, ...]:
    """Return domains in small letters, as DNS writes them (RFC 5890), each once, in the order given.

    Raises:
        NotDomainError: an entry is not a host's name of letters, digits, hyphens and dots; or there are over 200.

    """
    if len(entries) > DOMAINS_AT_MOST:
        raise NotDomainError(f"There are {len(entries):,} domains, and at most {DOMAINS_AT_MOST} can be kept.")
    return tuple(dict.fromkeys(map(_domain, entries)))


def change_counts(before: Policy, after: Policy) -> dict[str, Any]:
    """Return what the trail says of a change: each setting that changed, a list or a choice as a number."""
    counts: dict[str, Any] = {}
    for name in SETTINGS:
        value = getattr(after, name)
        if value == getattr(before, name):
            continue
        if name == "allowed_domains":
            counts[name] = len(value)
        elif name == "model_writes":
            counts["model_writes_confirm"] = value == "confirm"
        else:
            counts[name] = value
    return counts


def _domain(entry: str) -> str:
    name = entry.strip().removesuffix(".")
    # What Python's codec does not know is no valid host name either. It takes quadratic time, so length comes first.
    try:
        domain = name.encode("idna").decode("ascii").lower() if len(name) <= _DOMAIN_CHARACTERS else ""
    except UnicodeError:
        domain = ""
    labels = domain.split(".")
    # A name that ends in a number is an address (RFC 3696, section 2).
    if len(domain) > _DOMAIN_CHARACTERS or not all(map(_LABEL.fullmatch, labels)) or labels[-1].isdigit():
        raise NotDomainError(
            f"{_shown(entry)} is not a domain. Write the host's name alone, such as wiki.example.com: no address "
            "with https://, no port, no path, no asterisk, no number."
        )
    return domain


def _shown(entry: str) -> str:
    return repr(entry if len(entry) <= _SHOWN_CHARACTERS else entry[: _SHOWN_CHARACTERS - 1] + "…")
