"""The trail, written in the transaction of the act and read by the person it concerns."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, bindparam, func, literal, select, tuple_
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB

from memory.audit.rules import Author, Detail, Entry
from memory.audit.tables import audit_details, audit_events
from tenancy.identity import Identity


@dataclass(frozen=True)
class RecordedDetail:
    """A changed line that an entry still holds, and its place in the entry."""

    place: int
    change: str
    text: str
    expires_at: datetime | None


@dataclass(frozen=True)
class RecordedEntry:
    """An entry as it was written, with what is left of its details."""

    id: UUID
    at: datetime
    client: str | None
    writer: str
    action: str
    counts: Mapping[str, Any]
    details: tuple[RecordedDetail, ...]


def append(connection: Connection, author: Author, entry: Entry) -> UUID:
    """Write an entry about the bound user's own things; org, person and time come from the database."""
    details = [
        {
            "change": detail.change,
            "text": detail.text,
            "digest": detail.digest.hex(),
            "expires_at": detail.expires_at.isoformat() if detail.expires_at else None,
        }
        for detail in entry.details
    ]
    event_id: UUID = connection.execute(
        select(
            func.tenancy.append_audit(
                author.client,
                author.writer.value,
                entry.action,
                entry.target_kind,
                entry.target_id,
                "done",
                literal(dict(entry.counts), JSONB),
                author.request_id,
                literal(details, JSONB),
            )
        )
    ).scalar_one()
    return event_id


def remove_details(
    connection: Connection,
    *,
    digests: Sequence[bytes] | None = None,
    event_id: UUID | None = None,
    place: int | None = None,
) -> int:
    """Remove details of the bound user's entries: by digest, by entry and place, or all of them.

    Returns how many went. The entries and their commitments stay.
    """
    removed: int = connection.execute(
        select(
            func.tenancy.remove_audit_details(
                bindparam("digests", digests if digests is None else list(digests), type_=ARRAY(BYTEA)),
                event_id,
                place,
            )
        )
    ).scalar_one()
    return removed


def expire_details(connection: Connection, digests: Sequence[bytes], until: datetime) -> None:
    """Let the bound user's details with one of the digests go at a time, or at the earlier one they have."""
    connection.execute(
        select(func.tenancy.expire_audit_details(bindparam("digests", list(digests), type_=ARRAY(BYTEA)), until))
    )


def find_detail(connection: Connection, identity: Identity, event_id: UUID, place: int) -> Detail | None:
    """Return one detail of the user's own entries, or None when it is gone or not theirs."""
    row = connection.execute(
        select(audit_details.c.change, audit_details.c.text, audit_details.c.digest, audit_details.c.expires_at).where(
            audit_details.c.org_id == identity.org_id,
            audit_details.c.user_id == identity.user_id,
            audit_details.c.event_id == event_id,
            audit_details.c.place == place,
        )
    ).one_or_none()
    return Detail(*row) if row else None


def list_entries(
    connection: Connection,
    identity: Identity,
    *,
    actions: Sequence[str],
    limit: int,
    before: tuple[datetime, UUID] | None = None,
) -> list[RecordedEntry]:
    """Return the user's own entries of the given actions with their details, newest first."""
    query = (
        select(audit_events)
        .where(
            audit_events.c.org_id == identity.org_id,
            audit_events.c.user_id == identity.user_id,
            audit_events.c.action.in_(actions),
        )
        .order_by(audit_events.c.at.desc(), audit_events.c.id.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(tuple_(audit_events.c.at, audit_events.c.id) < tuple_(*before))
    events = connection.execute(query).all()
    details = _details_of(connection, identity, [event.id for event in events])
    return [
        RecordedEntry(
            event.id,
            event.at,
            event.client,
            event.writer,
            event.action,
            event.counts,
            tuple(details[event.id]),
        )
        for event in events
    ]


def _details_of(
    connection: Connection, identity: Identity, event_ids: Sequence[UUID]
) -> Mapping[UUID, list[RecordedDetail]]:
    found: defaultdict[UUID, list[RecordedDetail]] = defaultdict(list)
    rows = connection.execute(
        select(audit_details)
        .where(
            audit_details.c.org_id == identity.org_id,
            audit_details.c.user_id == identity.user_id,
            audit_details.c.event_id.in_(event_ids),
        )
        .order_by(audit_details.c.event_id, audit_details.c.place)
    )
    for row in rows:
        found[row.event_id].append(RecordedDetail(row.place, row.change, row.text, row.expires_at))
    return found
