"""What the prompt is made of, read in one round trip and put together."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select

from memory.block.rules import CHARACTER_LIMIT, find_closing_tag
from memory.block.tables import blocks
from memory.prompt.rules import Segment, base_segment, join_segments, memory_segment
from memory.text.rules import clean
from tenancy.binding import Binder, compile_read
from tenancy.clock import Clock
from tenancy.errors import NotSignedInError
from tenancy.identity import Identity
from tenancy.keys import ClosingTags
from tenancy.tables import users

# A scalar subquery plans faster than a join when every statement is planned anew.
_TEXT = select(blocks.c.text).where(blocks.c.org_id == bindparam("org_id"), blocks.c.user_id == bindparam("user_id"))
_PERSONAL = compile_read(
    select(users.c.memory_on, _TEXT.scalar_subquery()).where(
        users.c.org_id == bindparam("org_id"), users.c.id == bindparam("user_id")
    )
)


@dataclass(frozen=True)
class Prompt:
    """The prompt of one user as of one moment."""

    text: str
    segments: list[Segment]
    memory_on: bool
    characters: int
    withheld_lines: int
    as_of: datetime

    def memory_summary(self) -> dict[str, object]:
        """Return what the reply says about memory beside the text."""
        return {
            "on": self.memory_on,
            "characters": self.characters,
            "limit": CHARACTER_LIMIT,
            "withheld_lines": self.withheld_lines,
            "stale_lines": 0,
            "suggestions_pending": 0,
            "ask_still_true": [],
        }

    @property
    def validator(self) -> str:
        """What the ETag says: over the text and the summary of memory."""
        seen = json.dumps([self.text, self.memory_summary()], sort_keys=True)
        return hashlib.sha256(seen.encode()).hexdigest()[:32]


class PromptStore:
    """Puts the prompt of the bound user together."""

    def __init__(self, tags: ClosingTags, clock: Clock) -> None:
        self._tags = tags
        self._clock = clock

    def build(self, binder: Binder, identity: Identity) -> Prompt:
        """Read and assemble; the text is cleaned again, for what was stored before a rule was.

        Raises:
            NotSignedInError: the user no longer exists.

        """
        ids = {"org_id": identity.org_id, "user_id": identity.user_id}
        as_of = self._clock.now()
        [rows] = binder.read(identity, [(_PERSONAL, ids)])
        if not rows:
            raise NotSignedInError("This account no longer exists.")
        memory_on, stored = rows[0]
        tag = self._tags.tag(identity.org_id, identity.user_id)
        text, withheld_lines = _loadable(stored, tag) if memory_on and stored else ("", 0)
        segments = [
            base_segment(),
            memory_segment(text, memory_on=memory_on, limit=CHARACTER_LIMIT, closing_tag=tag),
        ]
        return Prompt(join_segments(segments), segments, memory_on, len(text), withheld_lines, as_of)


def _loadable(stored: str, closing_tag: str) -> tuple[str, int]:
    """Return the stored text cleaned, without rows that would close its section, and how many those are."""
    text = clean(stored)
    withheld = {row_number for row_number, *_ in find_closing_tag(text, closing_tag)}
    if withheld:
        rows = enumerate(text.split("\n"), start=1)
        text = clean("\n".join(row for row_number, row in rows if row_number not in withheld))
    return text, len(withheld)
