"""What changed in a user's memory, from the trail: who, when, which lines, and what can be taken back."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection

from memory.audit import store as audit
from memory.audit.store import RecordedEntry
from tenancy.errors import InvalidError
from tenancy.identity import Identity

ACTIONS = ("block.rewrite", "block.clear", "memory.switch")
Change = RecordedEntry


def list_changes(
    connection: Connection, identity: Identity, *, limit: int, position: Sequence[str] | None, now: datetime
) -> tuple[list[Change], list[str] | None]:
    """Return a page of changes, newest first, and the position of the next page where there is one.

    Lines whose 30 days are over are left out even before they are removed.

    Raises:
        InvalidError: the position can't be read.

    """
    before = _read_position(position) if position else None
    entries = audit.list_entries(connection, identity, actions=ACTIONS, limit=limit + 1, before=before)
    shown = [_without_expired(entry, now) for entry in entries[:limit]]
    following = [shown[-1].at.isoformat(), str(shown[-1].id)] if len(entries) > limit else None
    return shown, following


def _without_expired(entry: RecordedEntry, now: datetime) -> RecordedEntry:
    kept = tuple(detail for detail in entry.details if detail.expires_at is None or detail.expires_at > now)
    return replace(entry, details=kept)


def _read_position(position: Sequence[str]) -> tuple[datetime, UUID]:
    try:
        return datetime.fromisoformat(position[0]), UUID(position[1])
    except (ValueError, IndexError) as error:
        raise InvalidError("The cursor is not one of this list. Start again without it.") from error
