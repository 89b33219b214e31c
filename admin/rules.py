"""Rules of what admins type: plain text of bounded length, and one form for everything that does not fit."""

import unicodedata
from collections.abc import Mapping
from typing import Any

from tenancy.errors import InvalidError

NAME_CHARACTERS = 200
_NOT_TEXT = frozenset({"Cc", "Cs", "Zl", "Zp"})

Faults = Mapping[str, Any]
"""By field: a list of sentences, or for a list of rows the faults of each by its index."""


def text_fault(text: str, most: int = NAME_CHARACTERS) -> str | None:
    """Return what is wrong with a name or an id, or None: no control characters, 1 to `most` characters."""
    if not text:
        return "Can't be empty."
    if text != text.strip():
        return "Has a space at its start or end. Leave it out."
    if len(text) > most:
        return f"Has {len(text):,} characters and may have at most {most:,}."
    if any(unicodedata.category(character) in _NOT_TEXT for character in text):
        return "Holds a control character or a line break, which a name or an id never has."
    return None


def faults_of(**found: str | None) -> dict[str, Any]:
    """Return the faults of fields, without those that have none."""
    return {name: [fault] for name, fault in found.items() if fault is not None}


def refuse_faults(faults: Faults) -> None:
    """Refuse what has a fault, naming the first of each field.

    Raises:
        InvalidError: there is one; `errors` holds all of them.

    """
    if faults:
        raise InvalidError(f"The request does not fit. {fault_sentences(faults)}", errors=dict(faults))


def fault_sentences(faults: Faults) -> str:
    """Return the first sentence of each field that has a fault, after the field's name."""
    return " ".join(f"{name}: {_first(messages)}" for name, messages in faults.items())


def _first(messages: Any) -> str:
    while not isinstance(messages, str):
        messages = next(iter(messages.values() if isinstance(messages, Mapping) else messages))
    return messages
