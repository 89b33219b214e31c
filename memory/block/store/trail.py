"""What a rewrite leaves in the trail: the model's removals whole for 30 days, the user's not at all."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from memory.audit import store as audit
from memory.audit.rules import Author, Detail, Entry, Writer, shortened
from memory.block.rules import KEPT_FOR_TAKING_BACK_DAYS, Rewrite, split_lines
from tenancy.keys import digest_line


def record_rewrite(
    connection: Connection, author: Author, line_key: bytes, rewrite: Rewrite, texts: tuple[str, str], now: datetime
) -> None:
    """Write the entry of a rewrite from one text to another, and let what it removed go from earlier entries.

    What the user removed goes at once. What the model removed goes after 30 days, also where an earlier entry says
    that it was added; until then its own entry keeps it whole. A line of which another copy is still in the block
    keeps its details.
    """
    old_text, new_text = texts
    details = []
    still_there = {line.text for line in split_lines(new_text)}
    gone = [digest_line(line_key, line) for line in rewrite.removed if line not in still_there]
    if author.writer is Writer.USER:
        if gone:
            audit.remove_details(connection, digests=gone)
    else:
        until = now + timedelta(days=KEPT_FOR_TAKING_BACK_DAYS)
        if gone:
            audit.expire_details(connection, gone, until)
        details += [Detail("removed", line, digest_line(line_key, line), until) for line in rewrite.removed]
    details += [Detail("added", shortened(line), digest_line(line_key, line), None) for line in rewrite.added]
    counts = {
        "removed": len(rewrite.removed),
        "added": len(rewrite.added),
        "characters_before": len(old_text),
        "characters_after": len(new_text),
    }
    audit.append(connection, author, Entry("block.rewrite", "block", counts=counts, details=tuple(details)))
