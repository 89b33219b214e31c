"""What is known about each line of the block, matched to the text by keyed digest and occurrence."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Row, delete, insert, select, update

from memory.block.rules import Line, Rewrite, split_lines
from memory.block.tables import block_lines
from tenancy.identity import Identity
from tenancy.keys import digest_line


class LineRecord(NamedTuple):
    """A line of the block with what is known about it."""

    text: str
    id: UUID
    category: str | None
    source: str
    provenance: str
    conversation_id: str | None
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True)
class Origin:
    """Where a rewrite's new lines come from; `confirmed_by` says how an account line was confirmed."""

    source: str
    provenance: str
    conversation_id: str | None = None
    confirmed_by: Mapping[str, str] | None = None

    def columns(self, line: Line) -> dict[str, Any]:
        """Return what a new or edited line's row says of its origin."""
        return {
            "source": self.source,
            "provenance": self.provenance,
            "conversation_id": self.conversation_id,
            "confirmed_by": (self.confirmed_by or {}).get(line.text),
        }


class LineRows:
    """The rows of one user's lines, as read on a bound connection."""

    def __init__(self, connection: Connection, identity: Identity, line_key: bytes) -> None:
        self._connection = connection
        self._line_key = line_key
        self._mine = (block_lines.c.org_id == identity.org_id, block_lines.c.user_id == identity.user_id)
        self._rows: dict[tuple[bytes, int], Row[Any]] = {
            (bytes(row.digest), row.occurrence): row
            for row in connection.execute(select(block_lines).where(*self._mine))
        }

    def describe(self, text: str) -> tuple[LineRecord, ...]:
        """Return the lines of the text with what is known about them, in order."""
        found = ((line.text, self._find(line)) for line in split_lines(text))
        return tuple(
            LineRecord(
                line_text, row.id, row.category, row.source, row.provenance,
                row.conversation_id, row.created_at, row.last_used_at,
            )
            for line_text, row in found
            if row is not None
        )  # fmt: skip

    def save(self, rewrite: Rewrite, origin: Origin, now: datetime) -> None:
        """Let kept lines keep their row and edited ones their id; removed ones lose it, added ones get one."""
        still_used: dict[UUID, dict[str, Any]] = {}
        new_rows: list[dict[str, Any]] = []
        for pairs, edited in ((rewrite.kept, False), (rewrite.edited, True)):
            for old, new in pairs:
                row = self._find(old)
                if row is None:
                    new_rows.append(self._new_row(new, origin, now))
                else:
                    still_used[row.id] = {**self._place(new), **(origin.columns(new) if edited else {})}
        new_rows += [self._new_row(line, origin, now) for line in rewrite.added_only]
        by_id = {row.id: row for row in self._rows.values()}
        self._remove([row_id for row_id in by_id if row_id not in still_used])
        for row_id, values in still_used.items():
            if any(getattr(by_id[row_id], name) != value for name, value in values.items()):
                chosen = update(block_lines).where(*self._mine, block_lines.c.id == row_id)
                self._connection.execute(chosen.values(values))
        if new_rows:
            self._connection.execute(insert(block_lines), new_rows)

    def _remove(self, ids: list[UUID]) -> None:
        if ids:
            self._connection.execute(delete(block_lines).where(*self._mine, block_lines.c.id.in_(ids)))

    def _new_row(self, line: Line, origin: Origin, now: datetime) -> dict[str, Any]:
        return {**self._place(line), **origin.columns(line), "created_at": now}

    def _place(self, line: Line) -> dict[str, Any]:
        return {"digest": digest_line(self._line_key, line.text), "occurrence": line.occurrence}

    def _find(self, line: Line) -> Row[Any] | None:
        return self._rows.get((digest_line(self._line_key, line.text), line.occurrence))
