"""The settings page of the block: the raw text with save and conflict, clear, the switch, and recent changes."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from sqlalchemy import Connection, select

from memory.audit.authors import author_of
from memory.block.api import block_store
from memory.block.changes import list_changes
from memory.block.errors import (
    BlockChangedError,
    BlockEmptyError,
    BlockTooLongError,
    LinesRejectedError,
    MemoryOffError,
)
from memory.block.rules import CHARACTER_LIMIT
from memory.block.store import Block, Origin
from memory.block.wording import describe_change, differences, notice_of, who_changed
from memory.text.rules import clean, count
from tenancy.errors import DomainError, InvalidError, NotFoundError
from tenancy.guards import Caller, current_caller, guarded, page
from tenancy.services import current_services
from tenancy.tables import clients
from web.paging import read_cursor, write_cursor
from web.problems import status_of

doors = Blueprint("block_pages", __name__)

CHANGES_SHOWN = 10
_TYPED = Origin("user_edit", "stated")
_PLACE = re.compile(r"[1-9][0-9]{0,4}")
_PROBLEM_KINDS: tuple[tuple[type[DomainError], str], ...] = (
    (BlockChangedError, "conflict"),
    (BlockEmptyError, "empty"),
    (BlockTooLongError, "too_long"),
    (LinesRejectedError, "rejected"),
    (MemoryOffError, "off"),
)
# The store's sentences for these are for whoever calls the API; the page knows more of what happened.
_PAGE_SENTENCES = {
    "off": "Memory is off, so lines can be removed but not added. Switch memory on to save this text.",
}


@doors.get("/settings/memory")
@guarded(page("memory:manage"))
def show_memory() -> Response:
    """Show the block with its text view and recent changes."""
    return _show(current_caller(), notice=_read_notice())


@doors.post("/settings/memory")
@guarded(page("memory:manage"))
def save_memory() -> Response:
    """Save the text unless the block changed since the editing began."""
    caller = current_caller()
    typed, seen = request.form.get("text", ""), request.form.get("seen", "")

    def is_as_seen(block: Block) -> bool:
        return block.text_digest == seen or block.text == clean(typed)

    try:
        with current_services().binder.bound(caller.identity) as connection:
            if request.form.get("switch_on") == "1":
                block_store().switch(connection, caller.identity, author_of(caller), on=True)
            saved = block_store().rewrite(connection, caller.identity, author_of(caller), typed, _TYPED, is_as_seen)
    except tuple(kind for kind, _ in _PROBLEM_KINDS) as error:
        return _show(caller, draft=typed, error=error)
    if saved.added or saved.removed:
        return _to_memory("saved", added=len(saved.added), removed=len(saved.removed))
    return _to_memory("rearranged" if saved.changed else "unchanged")


@doors.post("/settings/memory/switch")
@guarded(page("memory:manage"))
def save_switch() -> Response:
    """Switch memory on or off."""
    caller = current_caller()
    asked = request.form.get("on")
    if asked not in ("0", "1"):
        raise InvalidError("The form does not say whether memory shall be on. Nothing was changed.")
    with current_services().binder.bound(caller.identity) as connection:
        block_store().switch(connection, caller.identity, author_of(caller), on=asked == "1")
    return _to_memory("on" if asked == "1" else "off")


@doors.get("/settings/memory/clear")
@guarded(page("memory:manage"))
def confirm_clear() -> Response:
    """Ask once more before everything is removed."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        block = block_store().read(connection, caller.identity)
    return make_response(render_template("memory_clear.html", lines=len(block.lines), characters=len(block.text)))


@doors.post("/settings/memory/clear")
@guarded(page("memory:manage"))
def clear_memory() -> Response:
    """Remove everything that is remembered."""
    caller = current_caller()
    if request.form.get("confirm") != "clear":
        raise InvalidError("The form does not confirm the removal. Nothing was removed.")
    with current_services().binder.bound(caller.identity) as connection:
        block_store().clear(connection, caller.identity, author_of(caller))
    return _to_memory("cleared")


@doors.post("/settings/memory/changes/take-back")
@guarded(page("memory:manage"))
def take_line_back() -> Response:
    """Put a line that an assistant removed back at the end."""
    caller = current_caller()
    event_id, place = _named_line()
    try:
        with current_services().binder.bound(caller.identity) as connection:
            block_store().take_back(connection, caller.identity, author_of(caller), event_id, place, _TYPED)
    except BlockTooLongError as error:
        over = error.fields["characters"] - CHARACTER_LIMIT
        return _refuse(
            caller, error, f"There is no room for that line. Shorten your text by {over:,} or more, then take it back."
        )
    except MemoryOffError as error:
        return _refuse(caller, error, "Memory is off, so the line was not taken back. Switch memory on first.")
    except NotFoundError as error:
        return _refuse(caller, error, error.detail)
    return _to_memory("taken_back")


@doors.post("/settings/memory/changes/forget")
@guarded(page("memory:manage"))
def forget_line() -> Response:
    """Remove for good a line that an assistant removed."""
    caller = current_caller()
    event_id, place = _named_line()
    try:
        with current_services().binder.bound(caller.identity) as connection:
            block_store().forget(connection, caller.identity, author_of(caller), event_id, place)
    except NotFoundError as error:
        return _refuse(caller, error, error.detail)
    return _to_memory("forgotten")


def _refuse(caller: Caller, error: DomainError, sentence: str) -> Response:
    """Show the page as it is, and above it why an act on one line was not done."""
    reply = _show(caller, notice=sentence, notice_is_problem=True)
    reply.status_code = status_of(error)
    return reply


def _show(
    caller: Caller,
    *,
    draft: str | None = None,
    error: DomainError | None = None,
    notice: str | None = None,
    notice_is_problem: bool = False,
) -> Response:
    services = current_services()
    position = read_cursor(caller, "changes page", request.args.get("changes"))
    with services.binder.bound(caller.identity) as connection:
        block = block_store().read(connection, caller.identity)
        changes, following = list_changes(
            connection, caller.identity, limit=CHANGES_SHOWN, position=position, now=services.clock.now()
        )
        names = _client_names(connection, caller)
    text = block.text if draft is None else draft
    older = write_cursor(caller, "changes page", following) if following else None
    body = render_template(
        "memory.html",
        block={
            "text": block.text,
            "characters": len(block.text),
            "limit": CHARACTER_LIMIT,
            "exists": block.exists,
            "updated_at": block.updated_at,
            "updated_by": who_changed(block.updated_by_writer, block.updated_by_client, names),
        },
        draft=text,
        draft_characters=count(text),
        seen=block.text_digest,
        memory_on=block.memory_on,
        problem=_problem(error, text, block),
        changes=[describe_change(change, names) for change in changes],
        older_changes_url=url_for(".show_memory", changes=older) if older else None,
        notice=notice,
        notice_is_problem=notice_is_problem,
    )
    return make_response(body, status_of(error) if error else 200)


def _problem(error: DomainError | None, draft: str, block: Block) -> dict[str, Any] | None:
    if error is None:
        return None
    kind = next(name for cls, name in _PROBLEM_KINDS if isinstance(error, cls))
    return {
        "kind": kind,
        "sentence": _PAGE_SENTENCES.get(kind, error.detail),
        "differences": differences(clean(draft), block.text) if kind == "conflict" else [],
        "saved_text": block.text,
        "lines": error.fields.get("rejected", []),
    }


def _client_names(connection: Connection, caller: Caller) -> Mapping[str, str]:
    rows: Sequence[Any] = connection.execute(
        select(clients.c.client_id, clients.c.name).where(clients.c.org_id == caller.identity.org_id)
    ).all()
    return {row.client_id: row.name for row in rows}


def _named_line() -> tuple[UUID, int]:
    try:
        event_id, place = UUID(request.form["event_id"]), request.form["place"]
    except (KeyError, ValueError) as error:
        raise NotFoundError from error
    # No entry has more lines than its texts have characters.
    if _PLACE.fullmatch(place) is None or int(place) > CHARACTER_LIMIT:
        raise NotFoundError
    return event_id, int(place)


def _to_memory(notice: str, **numbers: Any) -> Response:
    """Send the browser back to the page, with what happened in the address, so that a reload repeats nothing."""
    return make_response(redirect(url_for(".show_memory", notice=notice, **numbers), 303))


def _read_notice() -> str | None:
    added, removed = (request.args.get(name, 0, type=int) for name in ("added", "removed"))
    return notice_of(request.args.get("notice", ""), added, removed)
