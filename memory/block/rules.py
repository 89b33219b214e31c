"""Rules of the block: its limit, what a line is, and what a rewrite removed, added and edited.

A line is a non-blank line of the text together with the indented lines below it. Lines are compared without
trailing white space and without regard to their place: moving a line neither removes nor adds it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

CHARACTER_LIMIT = 4_000
KEPT_FOR_TAKING_BACK_DAYS = 30
SIMILAR_ENOUGH = 0.6
_PAIRS_COMPARED_AT_MOST = 900
# Comparing two texts of n and m characters takes n * m steps; a million of them take a fifth of a second.
_STEPS_AT_MOST = 2_000_000
_STEPS_OF_A_PAIR_AT_MOST = 250_000


class Line(NamedTuple):
    """One line of the block: its text, which copy of that text it is, and the number of its first row."""

    text: str
    occurrence: int
    row_number: int

    @property
    def is_heading(self) -> bool:
        """Whether the line is a Markdown heading, which has no category and never goes stale."""
        hashes = len(self.text) - len(self.text.lstrip("#"))
        return 1 <= hashes <= 6 and self.text[hashes : hashes + 1] in ("", " ", "\t")


@dataclass(frozen=True)
class Rewrite:
    """What separates two texts: lines kept, lines edited as pairs, lines removed and lines added."""

    kept: tuple[tuple[Line, Line], ...]
    edited: tuple[tuple[Line, Line], ...]
    removed_only: tuple[Line, ...]
    added_only: tuple[Line, ...]

    @property
    def removed(self) -> list[str]:
        """Texts that are no longer there, an edited line's old text among them, in the old order."""
        lines = [*(old for old, _ in self.edited), *self.removed_only]
        return [line.text for line in sorted(lines, key=lambda line: line.row_number)]

    @property
    def added(self) -> list[str]:
        """Texts that are new, an edited line's new text among them, in the new order."""
        lines = [*(new for _, new in self.edited), *self.added_only]
        return [line.text for line in sorted(lines, key=lambda line: line.row_number)]


def split_lines(text: str) -> list[Line]:
    """Return the lines of a cleaned text, in order."""
    return list(_numbered(_grouped(text)))


def compare(old_text: str, new_text: str) -> Rewrite:
    """Return what a rewrite does, line by line.

    Equal lines are matched first. Of what is left between the same kept lines, a removed and an added line that
    resemble each other (ratio of at least 0.6) are one edited line.
    """
    old_lines, new_lines = split_lines(old_text), split_lines(new_text)
    unmatched: defaultdict[str, list[Line]] = defaultdict(list)
    for line in reversed(old_lines):
        unmatched[line.text].append(line)
    kept: list[tuple[Line, Line]] = []
    added: list[Line] = []
    for line in new_lines:
        if unmatched[line.text]:
            kept.append((unmatched[line.text].pop(), line))
        else:
            added.append(line)
    matched = {old.row_number for old, _ in kept}
    removed = [line for line in old_lines if line.row_number not in matched]
    edited = _pair_edited(removed, added)
    edited_old = {old.row_number for old, _ in edited}
    edited_new = {new.row_number for _, new in edited}
    return Rewrite(
        tuple(kept),
        tuple(edited),
        tuple(line for line in removed if line.row_number not in edited_old),
        tuple(line for line in added if line.row_number not in edited_new),
    )


def take_back(text: str, line: str) -> str:
    """Return the text with a line that was removed put back at its end."""
    return f"{text}\n{line}" if text else line


def find_closing_tag(text: str, tag: str) -> list[tuple[int, str, int, int]]:
    """Return where the text contains the tag that closes its section: row number, row, start, end.

    Upper and lower case count as the same: a model reads them so.
    """
    pattern = re.compile(re.escape(tag), re.IGNORECASE)
    if not pattern.search(text):
        return []
    rows = enumerate(text.split("\n"), start=1)
    return [(number, row, *found.span()) for number, row in rows if (found := pattern.search(row))]


def _grouped(text: str) -> Iterator[tuple[str, int]]:
    group: list[str] = []
    first_row = 0
    for number, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        if group and not row[0].isspace():
            yield "\n".join(group), first_row
            group = []
        if not group:
            first_row = number
        group.append(row.rstrip())
    if group:
        yield "\n".join(group), first_row


def _numbered(groups: Iterator[tuple[str, int]]) -> Iterator[Line]:
    seen: Counter[str] = Counter()
    for text, row_number in groups:
        seen[text] += 1
        yield Line(text, seen[text], row_number)


def _pair_edited(removed: Sequence[Line], added: Sequence[Line]) -> list[tuple[Line, Line]]:
    """Pair each removed line with the added line most like it, best pairs first.

    A rewrite that replaces more text than anybody edits by hand is compared in order only, so that the time
    stays bounded.
    """
    steps = sum(len(line.text) for line in removed) * sum(len(line.text) for line in added)
    if len(removed) * len(added) > _PAIRS_COMPARED_AT_MOST or steps > _STEPS_AT_MOST:
        candidates = list(zip(removed, added, strict=False))
    else:
        candidates = [(old, new) for old in removed for new in added]
    rated = sorted(
        ((_likeness(old.text, new.text), old, new) for old, new in candidates),
        key=lambda entry: (-entry[0], entry[1].row_number, entry[2].row_number),
    )
    used_old: set[int] = set()
    used_new: set[int] = set()
    pairs: list[tuple[Line, Line]] = []
    for likeness, old, new in rated:
        if likeness < SIMILAR_ENOUGH:
            break
        if old.row_number not in used_old and new.row_number not in used_new:
            pairs.append((old, new))
            used_old.add(old.row_number)
            used_new.add(new.row_number)
    return pairs


def _likeness(old: str, new: str) -> float:
    """Return the share of characters that two lines have in common, in order.

    Of long lines only the common start and end count where what lies between takes too many steps to compare.
    """
    start = _common_start(old, new)
    end = _common_start(old[start:][::-1], new[start:][::-1])
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    common = start + end
    if len(old_middle) * len(new_middle) <= _STEPS_OF_A_PAIR_AT_MOST:
        matcher = SequenceMatcher(None, old_middle, new_middle, autojunk=False)
        characters = len(old_middle) + len(new_middle)
        if 2 * common + matcher.quick_ratio() * characters >= SIMILAR_ENOUGH * (len(old) + len(new)):
            common += sum(block.size for block in matcher.get_matching_blocks())
    return 2 * common / (len(old) + len(new))


def _common_start(old: str, new: str) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(old), len(new)))
