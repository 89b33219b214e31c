"""The block's one store: every rewrite, by whatever door, goes through the one save function here.

All operations run on a connection that is bound to the identity they are given, and repeat its org and user as a
predicate beside the policy.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, delete, insert, select, update

from memory.audit import store as audit
from memory.audit.rules import Author, Detail, Entry, Writer
from memory.block import rules
from memory.block.errors import (
    BlockChangedError,
    BlockEmptyError,
    BlockTooLongError,
    LinesRejectedError,
    MemoryOffError,
)
from memory.block.store.lines import LineRecord, LineRows, Origin
from memory.block.store.trail import record_rewrite
from memory.block.tables import blocks
from memory.text.rules import clean
from tenancy.clock import Clock
from tenancy.errors import NotFoundError, NotSignedInError
from tenancy.identity import Identity
from tenancy.keys import ClosingTags
from tenancy.tables import users


@dataclass(frozen=True)
class Block:
    """The block as it is stored; no text means that nothing is remembered."""

    text: str
    memory_on: bool
    line_key: bytes = field(repr=False)
    updated_at: datetime | None = None
    updated_by_writer: str | None = None
    updated_by_client: str | None = None
    lines: tuple[LineRecord, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether anything is remembered."""
        return self.updated_at is not None

    @property
    def text_digest(self) -> str:
        """What a page keeps to notice that the text changed meanwhile."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @property
    def validator(self) -> str:
        """What the representation's ETag says: it changes with the text and with anything known about a line."""
        return hashlib.sha256(repr((self.text, self.updated_at, self.lines)).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Saved:
    """What a rewrite stored and what it changed; a text whose lines only moved is changed too."""

    text: str
    removed: list[str]
    added: list[str]
    changed: bool


Precondition = Callable[[Block], bool]


class BlockStore:
    """Reads, rewrites, clears and switches the personal block of the bound user."""

    def __init__(self, tags: ClosingTags, clock: Clock) -> None:
        self._tags = tags
        self._clock = clock

    def read(self, connection: Connection, identity: Identity, *, lock: bool = False) -> Block:
        """Return the block; with `lock`, no other write of this user runs until the transaction ends.

        Raises:
            NotSignedInError: the user no longer exists.

        """
        query = select(users.c.memory_on, users.c.line_key).where(
            users.c.org_id == identity.org_id, users.c.id == identity.user_id
        )
        person = connection.execute(query.with_for_update(key_share=True) if lock else query).one_or_none()
        if person is None:
            raise NotSignedInError("This account no longer exists.")
        row = connection.execute(
            select(blocks).where(blocks.c.org_id == identity.org_id, blocks.c.user_id == identity.user_id)
        ).one_or_none()
        if row is None:
            return Block("", person.memory_on, person.line_key)
        lines = LineRows(connection, identity, person.line_key).describe(row.text)
        return Block(
            row.text,
            person.memory_on,
            person.line_key,
            row.updated_at,
            row.updated_by_writer,
            row.updated_by_client,
            lines,
        )

    def rewrite(
        self,
        connection: Connection,
        identity: Identity,
        author: Author,
        text: str,
        origin: Origin,
        precondition: Precondition | None = None,
    ) -> Saved:
        """Replace the whole text; the later of two wins unless a precondition asks for more.

        Raises:
            MemoryOffError: memory is off and this is the model's, or adds a line.
            BlockChangedError: the precondition does not hold.
            BlockEmptyError, BlockTooLongError, LinesRejectedError: the text can't be stored; nothing changed.

        """
        before = self.read(connection, identity, lock=True)
        if not before.memory_on and author.writer is Writer.MODEL:
            raise MemoryOffError
        if precondition is not None and not precondition(before):
            raise BlockChangedError
        text = self._checked(identity, text)
        return self._save(connection, identity, author, before, text, origin)

    def take_back(
        self,
        connection: Connection,
        identity: Identity,
        author: Author,
        event_id: UUID,
        place: int,
        origin: Origin,
    ) -> Saved:
        """Put a line that the model removed back at the end of the block.

        Raises:
            NotFoundError: the line is no longer kept.
            BlockTooLongError, MemoryOffError: as for a rewrite.

        """
        before = self.read(connection, identity, lock=True)
        line = self._kept_line(connection, identity, event_id, place)
        text = before.text
        if line.text not in {known.text for known in rules.split_lines(text)}:  # else it was typed again meanwhile
            text = self._checked(identity, rules.take_back(text, line.text))
        saved = self._save(connection, identity, author, before, text, origin)
        audit.remove_details(connection, event_id=event_id, place=place)
        return saved

    def forget(self, connection: Connection, identity: Identity, author: Author, event_id: UUID, place: int) -> None:
        """Remove for good a line that the model removed, wherever the trail's details hold it.

        Raises:
            NotFoundError: the line is no longer kept.

        """
        self.read(connection, identity, lock=True)
        line = self._kept_line(connection, identity, event_id, place)
        removed = audit.remove_details(connection, digests=[line.digest])
        audit.append(connection, author, Entry("block.forget", "block", counts={"removed": removed}))

    def clear(
        self, connection: Connection, identity: Identity, author: Author, precondition: Precondition | None = None
    ) -> int:
        """Remove the block and every changed line that the trail holds; return how many lines went.

        Raises:
            BlockChangedError: the precondition does not hold.

        """
        before = self.read(connection, identity, lock=True)
        if precondition is not None and not precondition(before):
            raise BlockChangedError
        connection.execute(
            delete(blocks).where(blocks.c.org_id == identity.org_id, blocks.c.user_id == identity.user_id)
        )
        removed_details = audit.remove_details(connection)
        if before.exists or removed_details:
            counts = {
                "removed": len(before.lines),
                "characters_before": len(before.text),
                "characters_after": 0,
            }
            audit.append(connection, author, Entry("block.clear", "block", counts=counts))
        return len(before.lines)

    def switch(self, connection: Connection, identity: Identity, author: Author, *, on: bool) -> None:
        """Switch memory on or off; what is stored stays."""
        if self.read(connection, identity, lock=True).memory_on == on:
            return
        connection.execute(
            update(users).where(users.c.org_id == identity.org_id, users.c.id == identity.user_id).values(memory_on=on)
        )
        audit.append(connection, author, Entry("memory.switch", "user", str(identity.user_id), {"on": on}))

    def _checked(self, identity: Identity, text: str) -> str:
        text = clean(text)
        if not text:
            raise BlockEmptyError
        if len(text) > rules.CHARACTER_LIMIT:
            raise BlockTooLongError(len(text))
        tag = self._tags.tag(identity.org_id, identity.user_id)
        found = rules.find_closing_tag(text, tag)
        if found:
            raise LinesRejectedError([_closes_the_section(*place) for place in found])
        return text

    def _save(
        self,
        connection: Connection,
        identity: Identity,
        author: Author,
        before: Block,
        text: str,
        origin: Origin,
    ) -> Saved:
        """Store a checked text: the one way by which a block changes."""
        if text == before.text:
            return Saved(text, [], [], changed=False)
        rewrite = rules.compare(before.text, text)
        if not before.memory_on and rewrite.added:
            raise MemoryOffError
        now = self._clock.now()
        stamp = {
            "text": text,
            "updated_at": now,
            "updated_by_writer": author.writer.value,
            "updated_by_client": author.client,
        }
        if before.exists:
            connection.execute(
                update(blocks)
                .where(blocks.c.org_id == identity.org_id, blocks.c.user_id == identity.user_id)
                .values(stamp)
            )
        else:
            connection.execute(insert(blocks).values(stamp))
        LineRows(connection, identity, before.line_key).save(rewrite, origin, now)
        record_rewrite(connection, author, before.line_key, rewrite, (before.text, text), now)
        return Saved(text, rewrite.removed, rewrite.added, changed=True)

    def _kept_line(self, connection: Connection, identity: Identity, event_id: UUID, place: int) -> Detail:
        detail = audit.find_detail(connection, identity, event_id, place)
        kept = detail is not None and detail.change == "removed" and detail.expires_at is not None
        if detail is None or not kept or (detail.expires_at and detail.expires_at <= self._clock.now()):
            raise NotFoundError("That line is no longer kept: it was taken back, forgotten, or its 30 days are over.")
        return detail


def _closes_the_section(line_number: int, row: str, start: int, end: int) -> dict[str, Any]:
    message = "This is the word that closes the memory section of the prompt. Leave it out."
    reason = {"code": "prompt_override", "start": start, "end": end, "message": message}
    return {"line_number": line_number, "text": row, "reasons": [reason]}
