"""How the memory page puts the block into words: changes, who made them, what differs, and what just happened."""

from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from memory.block.changes import Change
from tenancy.clients import WEB_CLIENT

_NOTICES = {
    "unchanged": "Nothing to save: the text is the same as before.",
    "rearranged": "Saved. The lines are the same; their order or the space around them changed.",
    "cleared": "Everything was removed. Nothing is remembered.",
    "on": "Memory is on.",
    "off": "Memory is off. What is stored stays until you remove it.",
    "taken_back": "The line is back at the end of your memory.",
    "forgotten": "The line is gone for good.",
}


def describe_change(change: Change, names: Mapping[str, str]) -> dict[str, Any]:
    """Return one change as the page shows it; `names` are the org's clients by id."""
    by_model = change.writer == "model"
    who = who_changed(change.writer, change.client, names)
    return {
        "at": change.at,
        "who": who if by_model else who[:1].upper() + who[1:],
        "sentence": _sentence(change),
        "sizes": _sizes(change),
        "added": [detail.text for detail in change.details if detail.change == "added"],
        "removed": [
            {"text": detail.text, "event_id": change.id, "place": detail.place, "until": detail.expires_at}
            for detail in change.details
            if detail.change == "removed"
        ],
    }


def who_changed(writer: str | None, client: str | None, names: Mapping[str, str]) -> str:
    """Return who wrote, as it stands inside a sentence: an assistant's name, or you and by which program."""
    if writer is None or client is None:
        return ""
    name = names.get(client, client)
    if writer == "model":
        return name
    return "you" if client == WEB_CLIENT else f"you, through {name}"


def differences(draft: str, saved: str) -> list[dict[str, str]]:
    """Return the rows that only one of two texts has, in order: only in the draft (added), only saved (removed)."""
    draft_rows, saved_rows = draft.split("\n"), saved.split("\n") if saved else []
    rows: list[dict[str, str]] = []
    for tag, saved_from, saved_to, draft_from, draft_to in SequenceMatcher(
        None, saved_rows, draft_rows, autojunk=False
    ).get_opcodes():
        if tag != "equal":
            rows += [{"kind": "removed", "text": row} for row in saved_rows[saved_from:saved_to]]
            rows += [{"kind": "added", "text": row} for row in draft_rows[draft_from:draft_to]]
    return [row for row in rows if row["text"].strip()]


def notice_of(code: str, added: int, removed: int) -> str | None:
    """Return the sentence for what just happened, or None for a code that there is not."""
    added, removed = max(added, 0), max(removed, 0)
    if code == "saved":
        if not added or not removed:
            return f"Saved. {_lines(added)} added." if added else f"Saved. {_lines(removed)} removed."
        return f"Saved. {_lines(added)} added, {removed:,} removed."
    return _NOTICES.get(code)


def _sentence(change: Change) -> str:
    added, removed = change.counts.get("added", 0), change.counts.get("removed", 0)
    # What a person removes leaves no words anywhere, so the page says why none are shown.
    gone = "" if change.writer == "model" or not removed else " Removed words are gone for good."
    if change.action == "memory.switch":
        return "Switched memory on." if change.counts.get("on") else "Switched memory off."
    if change.action == "block.clear":
        return f"Cleared everything: {_lines(removed)}."
    if added and removed:
        return f"Added {_lines(added)}, removed {removed:,}.{gone}"
    if added:
        return f"Added {_lines(added)}."
    if removed:
        return f"Removed {_lines(removed)}.{gone}"
    return "Changed the order of the lines or the space around them."


def _sizes(change: Change) -> tuple[int, int] | None:
    """Return the characters before and after, where the change was one of the text."""
    if "characters_after" not in change.counts:
        return None
    return change.counts["characters_before"], change.counts["characters_after"]


def _lines(number: int) -> str:
    return "1 line" if number == 1 else f"{number:,} lines"
