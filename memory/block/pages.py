"""The settings page of the block: the raw text with save and conflict, clear, the switch, and recent changes."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from sqlalchemy import Connection, select

from memory.audit.authors import author_of
from memory.block.api import block_store
from memory.block.changes import Change, list_changes
from memory.block.errors import BlockChangedError, BlockEmptyError, BlockTooLongError, LinesRejectedError
from memory.block.rules import CHARACTER_LIMIT
from memory.block.store import Block, Origin, Saved
from memory.text.rules import clean, count
from tenancy.errors import DomainError, InvalidError, NotFoundError
from tenancy.guards import Caller, current_caller, guarded, page
from tenancy.services import current_services
from tenancy.sessions import WEB_CLIENT
from tenancy.tables import clients
from web.paging import read_cursor, write_cursor
from web.problems import status_of

doors = Blueprint("block_pages", __name__)

CHANGES_SHOWN = 10
_TYPED = Origin("user_edit", "stated")
_PROBLEM_KINDS: tuple[tuple[type[DomainError], str], ...] = (
    (BlockChangedError, "conflict"),
    (BlockEmptyError, "empty"),
    (BlockTooLongError, "too_long"),
    (LinesRejectedError, "rejected"),
)
_NOTICES = {
    "unchanged": "Nothing to save: the text is the same as before.",
    "cleared": "Everything was removed. Nothing is remembered.",
    "on": "Memory is on.",
    "off": "Memory is off. What is stored stays until you remove it.",
    "taken_back": "The line is back at the end of your memory.",
    "forgotten": "The line is gone for good.",
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
    try:
        with current_services().binder.bound(caller.identity) as connection:
            saved = block_store().rewrite(
                connection, caller.identity, author_of(caller), typed, _TYPED,
                lambda block: block.text_digest == seen or block.text == clean(typed),
            )  # fmt: skip
    except DomainError as error:
        if not isinstance(error, tuple(kind for kind, _ in _PROBLEM_KINDS)):
            raise
        return _show(caller, draft=typed, error=error)
    return _to_memory(saved=saved)


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
        return _show(caller, error=error)
    return _to_memory("taken_back")


@doors.post("/settings/memory/changes/forget")
@guarded(page("memory:manage"))
def forget_line() -> Response:
    """Remove for good a line that an assistant removed."""
    caller = current_caller()
    event_id, place = _named_line()
    with current_services().binder.bound(caller.identity) as connection:
        block_store().forget(connection, caller.identity, event_id, place)
    return _to_memory("forgotten")


def _show(
    caller: Caller, *, draft: str | None = None, error: DomainError | None = None, notice: str | None = None
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
            "updated_by": _label(block.updated_by_writer, block.updated_by_client, names),
        },
        draft=text,
        draft_characters=count(text),
        seen=block.text_digest,
        memory_on=block.memory_on,
        problem=_problem(error, text, block),
        changes=[_describe_change(change, names) for change in changes],
        older_changes_url=url_for(".show_memory", changes=older) if older else None,
        notice=notice,
    )
    return make_response(body, status_of(error) if error else 200)


def _problem(error: DomainError | None, draft: str, block: Block) -> dict[str, Any] | None:
    if error is None:
        return None
    kind = next(name for cls, name in _PROBLEM_KINDS if isinstance(error, cls))
    return {
        "kind": kind,
        "sentence": error.detail,
        "differences": _differences(clean(draft), block.text) if kind == "conflict" else [],
        "saved_text": block.text,
        "lines": error.fields.get("rejected", []),
    }


def _differences(draft: str, saved: str) -> list[dict[str, str]]:
    """Return the rows of both texts in order: in both, only in the draft (added), only in what is saved (removed)."""
    draft_rows, saved_rows = draft.split("\n"), saved.split("\n") if saved else []
    rows: list[dict[str, str]] = []
    for tag, saved_from, saved_to, draft_from, draft_to in SequenceMatcher(
        None, saved_rows, draft_rows, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            rows += [{"kind": "same", "text": row} for row in saved_rows[saved_from:saved_to]]
        else:
            rows += [{"kind": "removed", "text": row} for row in saved_rows[saved_from:saved_to]]
            rows += [{"kind": "added", "text": row} for row in draft_rows[draft_from:draft_to]]
    return [row for row in rows if row["text"].strip()]


def _describe_change(change: Change, names: Mapping[str, str]) -> dict[str, Any]:
    by_model = change.writer == "model"
    return {
        "at": change.at,
        "who": _label(change.writer, change.client, names),
        "sentence": _sentence(change),
        "counts": {
            name: change.counts.get(name, 0) for name in ("removed", "added", "characters_before", "characters_after")
        },
        "added": [detail.text for detail in change.details if detail.change == "added"],
        "removed": [
            {"text": detail.text, "event_id": change.id, "place": detail.place, "until": detail.expires_at}
            for detail in change.details
            if detail.change == "removed"
        ],
        "removed_by_user": 0 if by_model else change.counts.get("removed", 0),
    }


def _sentence(change: Change) -> str:
    if change.action == "memory.switch":
        return "switched memory on" if change.counts.get("on") else "switched memory off"
    if change.action == "block.clear":
        return "cleared everything"
    return "rewrote the text" if change.counts.get("characters_before") else "wrote the first text"


def _label(writer: str | None, client: str | None, names: Mapping[str, str]) -> str:
    if writer is None or client is None:
        return ""
    name = names.get(client, client)
    if writer == "model":
        return name
    return "you" if client == WEB_CLIENT else f"you, through {name}"


def _client_names(connection: Connection, caller: Caller) -> Mapping[str, str]:
    rows: Sequence[Any] = connection.execute(
        select(clients.c.client_id, clients.c.name).where(clients.c.org_id == caller.identity.org_id)
    ).all()
    return {row.client_id: row.name for row in rows}


def _named_line() -> tuple[UUID, int]:
    try:
        return UUID(request.form["event_id"]), int(request.form["place"])
    except (KeyError, ValueError) as error:
        raise NotFoundError from error


def _to_memory(notice: str | None = None, *, saved: Saved | None = None) -> Response:
    """Send the browser back to the page, with what happened in the address, so that a reload repeats nothing."""
    if saved is not None and (saved.added or saved.removed):
        address = url_for(".show_memory", notice="saved", added=len(saved.added), removed=len(saved.removed))
    else:
        address = url_for(".show_memory", notice=notice or "unchanged")
    return make_response(redirect(address, 303))


def _read_notice() -> str | None:
    asked = request.args.get("notice", "")
    if asked != "saved":
        return _NOTICES.get(asked)
    added, removed = (request.args.get(name, 0, type=int) for name in ("added", "removed"))
    return f"Saved. {_lines(added)} added, {_lines(removed)} removed."


def _lines(number: int) -> str:
    return "1 line" if number == 1 else f"{number:,} lines"
