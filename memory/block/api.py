"""The block over REST: read, rewrite, clear, switch, and what changed."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, jsonify, request
from marshmallow import fields, validate
from sqlalchemy import Connection

from memory.audit.authors import author_of
from memory.audit.rules import Writer
from memory.block.changes import list_changes
from memory.block.errors import MemoryNotReadError
from memory.block.rules import CHARACTER_LIMIT
from memory.block.store import Block, BlockStore, Origin, Precondition
from memory.text.rules import clean
from tenancy.clients import Kind
from tenancy.guards import Caller, call, current_caller, guarded
from tenancy.services import current_services
from web.paging import Paging, read_cursor, write_cursor
from web.shapes import CONVERSATION_ID, Flag, Shape, Text, UtcTime, gives, reply_json, takes, takes_query

doors = Blueprint("block_api", __name__)


class LineShape(Shape):
    """A line of the block with what is known about it."""

    id = fields.UUID()
    text = Text()
    category = Text()
    source = Text()
    provenance = Text()
    created_at = UtcTime()
    last_used_at = UtcTime()
    conversation_id = Text()
    state = fields.Constant("active")


class UpdatedBy(Shape):
    """Who last rewrote the block."""

    writer = Text(attribute="updated_by_writer")
    client = Text(attribute="updated_by_client")


class BlockReply(Shape):
    """The block as it is stored."""

    text = Text()
    exists = fields.Boolean()
    characters = fields.Function(lambda block: len(block.text), metadata={"type": "integer"})
    limit = fields.Constant(CHARACTER_LIMIT)
    updated_at = UtcTime()
    updated_by = fields.Function(
        lambda block: UpdatedBy().dump(block) if block.exists else None, metadata={"type": "object"}
    )
    lines = fields.List(fields.Nested(LineShape))


class Confirmation(Shape):
    """How an account was confirmed."""

    text = Text(required=True)
    how = Text(required=True, validate=validate.OneOf(("current_user_call", "login_lookup")))


class RewriteBody(Shape):
    """A whole text to store."""

    text = Text(required=True)
    conversation_id = Text(load_default=None, validate=validate.Regexp(CONVERSATION_ID))
    said = Text(load_default=None)
    confirmed_by = fields.List(fields.Nested(Confirmation), load_default=list, validate=validate.Length(max=100))


class SavedReply(Shape):
    """What a rewrite stored and changed."""

    text = Text()
    characters = fields.Function(lambda saved: len(saved.text), metadata={"type": "integer"})
    limit = fields.Constant(CHARACTER_LIMIT)
    removed = fields.List(Text())
    added = fields.List(Text())
    held = fields.Function(lambda _: [], metadata={"type": "array"})
    withheld = fields.Function(lambda _: [], metadata={"type": "array"})


class SwitchBody(Shape):
    """Memory on or off."""

    on = Flag(required=True)


class SwitchReply(Shape):
    """Whether memory is on."""

    on = fields.Boolean()


class ClearedReply(Shape):
    """What a clear removed."""

    removed_lines = fields.Integer()
    removed_stale = fields.Integer()
    removed_suggestions = fields.Integer()


class ChangedLine(Shape):
    """A changed line that the entry still holds."""

    change = Text()
    text = Text()
    place = fields.Integer()
    kept_until = UtcTime(attribute="expires_at")


class ChangeShape(Shape):
    """One change of the block or of the switch."""

    id = fields.UUID()
    at = UtcTime()
    action = Text()
    writer = Text()
    client = Text()
    counts = fields.Dict()
    details = fields.List(fields.Nested(ChangedLine))


class ChangesReply(Shape):
    """A page of changes, newest first."""

    items = fields.List(fields.Nested(ChangeShape))
    next_cursor = Text()


_BLOCK, _SAVED, _CHANGES = BlockReply(), SavedReply(), ChangesReply()


def block_store() -> BlockStore:
    """Return the store with this process's keys and clock."""
    services = current_services()
    return BlockStore(services.tags, services.clock)


@doors.get("/v1/memory/block")
@guarded(call("memory:read"))
@gives(BlockReply)
def show_block() -> Response:
    """Return the personal block and what is known about each line."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        block = _read_for(caller, connection)
    return reply_json(_BLOCK, block, validator=block.validator)


@doors.put("/v1/memory/block")
@guarded(call("memory:write"))
@takes(RewriteBody)
@gives(SavedReply)
def rewrite_block(body: Mapping[str, Any]) -> Response:
    """Replace the whole personal block."""
    caller = current_caller()
    author = author_of(caller)
    confirmed_by = {clean(entry["text"]): entry["how"] for entry in body["confirmed_by"]}
    if author.writer is Writer.MODEL:
        origin = Origin("model_write", "unverified", body["conversation_id"], confirmed_by)
    else:
        origin = Origin("user_edit", "stated", body["conversation_id"])
    with current_services().binder.bound(caller.identity) as connection:
        saved = block_store().rewrite(connection, caller.identity, author, body["text"], origin, _if_match_holds())
        validator = block_store().read(connection, caller.identity).validator
    reply = reply_json(_SAVED, saved)
    reply.set_etag(validator)  # so that a caller that sends If-Match need not read again
    return reply


@doors.delete("/v1/memory/block")
@guarded(call("memory:manage"))
@gives(ClearedReply)
def clear_block() -> Response:
    """Remove everything that is remembered; it can't be undone."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        removed_lines = block_store().clear(connection, caller.identity, author_of(caller), _if_match_holds())
    return jsonify(removed_lines=removed_lines, removed_stale=0, removed_suggestions=0)


@doors.put("/v1/memory/switch")
@guarded(call("memory:manage"))
@takes(SwitchBody)
@gives(SwitchReply)
def switch_memory(body: Mapping[str, Any]) -> Response:
    """Switch the user's memory on or off."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        block_store().switch(connection, caller.identity, author_of(caller), on=body["on"])
    return jsonify(on=body["on"])


@doors.get("/v1/memory/changes")
@guarded(call("memory:read"))
@takes_query(Paging)
@gives(ChangesReply)
def list_block_changes(query: Mapping[str, Any]) -> Response:
    """Return what changed in the caller's memory, newest first."""
    caller = current_caller()
    position = read_cursor(caller, "changes", query["cursor"])
    services = current_services()
    with services.binder.bound(caller.identity) as connection:
        _read_for(caller, connection)
        changes, following = list_changes(
            connection, caller.identity, limit=query["limit"], position=position, now=services.clock.now()
        )
    next_cursor = write_cursor(caller, "changes", following) if following else None
    return reply_json(_CHANGES, {"items": changes, "next_cursor": next_cursor})


def _read_for(caller: Caller, connection: Connection) -> Block:
    """Return the block, unless memory is off and an assistant asks: then nothing personal loads by any door."""
    block = block_store().read(connection, caller.identity)
    if caller.kind is Kind.ASSISTANT and not block.memory_on:
        raise MemoryNotReadError
    return block


def _if_match_holds() -> Precondition | None:
    """Return what `If-Match` asks, to be checked under the lock; None where it is not sent."""
    if "If-Match" not in request.headers:
        return None
    asked = request.if_match

    def holds(block: Block) -> bool:
        return block.exists if asked.star_tag else asked.contains(block.validator)

    return holds
