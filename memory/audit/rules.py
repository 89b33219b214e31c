"""Rules of the trail: who wrote, how much of a changed line an entry keeps, and for how long."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

DETAIL_CHARACTERS = 200


class Writer(StrEnum):
    """Whose act it is; follows from the credential, never from a field of a request."""

    MODEL = "model"
    USER = "user"
    SYSTEM = "system"


class Author(NamedTuple):
    """Who writes in this call: the kind of writer, the client, and the request it belongs to."""

    writer: Writer
    client: str
    request_id: str


class Detail(NamedTuple):
    """One changed line of an entry; with `expires_at` it is kept whole until then, for taking it back."""

    change: str
    text: str
    digest: bytes
    expires_at: datetime | None


@dataclass(frozen=True)
class Entry:
    """What to write: an action on a target, with counts and, apart from them, the changed lines."""

    action: str
    target_kind: str
    target_id: str | None = None
    counts: Mapping[str, int | bool] = field(default_factory=dict)
    details: tuple[Detail, ...] = ()


def shortened(text: str) -> str:
    """Return a changed line as an entry holds it, cut to 200 characters."""
    return text if len(text) <= DETAIL_CHARACTERS else text[: DETAIL_CHARACTERS - 1] + "…"
