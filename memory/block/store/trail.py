"""What a rewrite leaves in the trail: the model's removals whole for 30 days, the user's not at all."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from memory.audit import store as audit
from memory.audit.rules import Detail, Entry, Writer, shortened
from memory.block.rules import KEPT_FOR_TAKING_BACK_DAYS, Rewrite, split_lines
from tenancy.keys import digest_line


def entry_of_rewrite(
    writer: Writer, line_key: bytes, rewrite: Rewrite, old_text: str, new_text: str, now: datetime
) -> Entry:
    """Return the entry of a rewrite: counts, and the changed lines that may be kept."""
    details = []
    if writer is not Writer.USER:
        until = now + timedelta(days=KEPT_FOR_TAKING_BACK_DAYS)
        details += [Detail("removed", line, digest_line(line_key, line), until) for line in rewrite.removed]
    details += [Detail("added", shortened(line), digest_line(line_key, line), None) for line in rewrite.added]
    counts = {
        "removed": len(rewrite.removed),
        "added": len(rewrite.added),
        "characters_before": len(old_text),
        "characters_after": len(new_text),
    }
    return Entry("block.rewrite", "block", counts=counts, details=tuple(details))


def forget_removed(connection: Connection, line_key: bytes, rewrite: Rewrite, new_text: str) -> None:
    """Let what the user removed vanish from the details of all earlier entries.

    A line of which another copy is still in the block keeps its details.
    """
    still_there = {line.text for line in split_lines(new_text)}
    gone = [digest_line(line_key, line) for line in rewrite.removed if line not in still_there]
    if gone:
        audit.remove_details(connection, digests=gone)
