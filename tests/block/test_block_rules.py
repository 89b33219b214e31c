"""What a line is, and what a rewrite kept, edited, removed and added."""

import random
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.block.rules import Rewrite, compare, find_closing_tag, split_lines, take_back
from memory.text.rules import clean

ROWS = st.sampled_from(["a", "b", "  under", "\tunder", "", "# Head", "a ", "long line of words", "long line of word"])
TEXTS = st.one_of(st.lists(ROWS, max_size=12).map("\n".join), st.text(max_size=60)).map(clean)


def texts_of(text: str) -> list[str]:
    return [line.text for line in split_lines(text)]


def test_an_indented_row_belongs_to_the_line_above() -> None:
    assert texts_of("One\n  more\n\tand more\nTwo") == ["One\n  more\n\tand more", "Two"]


def test_blank_rows_are_no_lines_and_trailing_blanks_do_not_count() -> None:
    assert texts_of("One  \n\n   \nTwo\n\n\n  under two\t") == ["One", "Two\n  under two"]
    assert texts_of("") == []
    assert compare("One\nTwo", "One  \n\n\nTwo").removed == []


def test_a_line_knows_its_first_row_and_which_copy_it_is() -> None:
    lines = split_lines("a\nb\n\na\n x\na")
    assert [(line.text, line.occurrence, line.row_number) for line in lines] == [
        ("a", 1, 1), ("b", 1, 2), ("a\n x", 1, 4), ("a", 2, 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "is_heading"),
    [
        ("# Head", True), ("###### Six", True), ("#", True), ("#\tTab", True),
        ("####### Seven", False), ("#tag", False), ("a # b", False), ("\\# no", False),
    ],
)  # fmt: skip
def test_a_heading_is_one_to_six_hashes_and_a_blank(text: str, is_heading: bool) -> None:
    assert split_lines(text)[0].is_heading is is_heading


def test_moving_a_line_neither_removes_nor_adds_it() -> None:
    rewrite = compare("a\nb\n  c\nd", "d\na\nb\n  c")
    assert (rewrite.removed, rewrite.added) == ([], [])
    assert len(rewrite.kept) == 3


def test_copies_are_counted() -> None:
    assert compare("a\na\na", "a").removed == ["a", "a"]
    assert compare("a", "a\na").added == ["a"]
    [(old, new)] = compare("a\na", "a").kept
    assert (old.occurrence, new.occurrence) == (1, 1)


def test_a_line_that_was_edited_is_paired_with_what_it_became() -> None:
    old = "Prefers short answers.\nWorks on billing."
    rewrite = compare(old, "New on the team.\nWorks on billing and tax.\nPrefers short answers.")
    [(before, after)] = rewrite.edited
    assert (before.text, after.text) == ("Works on billing.", "Works on billing and tax.")
    assert rewrite.removed == ["Works on billing."]
    assert rewrite.added == ["New on the team.", "Works on billing and tax."]


def test_the_most_alike_are_paired_and_the_unlike_are_not() -> None:
    rewrite = compare("Owns the service A.\nOwns the service B, too.", "Owns the service B, also.\nLikes tea.")
    assert [(old.text, new.text) for old, new in rewrite.edited] == [
        ("Owns the service B, too.", "Owns the service B, also.")
    ]
    assert [line.text for line in rewrite.removed_only] == ["Owns the service A."]
    assert [line.text for line in rewrite.added_only] == ["Likes tea."]


def test_a_long_line_edited_at_one_place_is_still_the_same_line() -> None:
    start, end = "Beginning, middle, end. " * 70, "More of the same. " * 70
    [(old, new)] = compare(f"{start}x{end}".strip(), f"{start}another{end}".strip()).edited
    assert (old.row_number, new.row_number) == (1, 1)


def covers(rewrite: Rewrite, old_text: str, new_text: str) -> bool:
    old = [*(old for old, _ in rewrite.kept), *(old for old, _ in rewrite.edited), *rewrite.removed_only]
    new = [*(new for _, new in rewrite.kept), *(new for _, new in rewrite.edited), *rewrite.added_only]
    return sorted(old) == sorted(split_lines(old_text)) and sorted(new) == sorted(split_lines(new_text))


@given(TEXTS, TEXTS)
def test_every_line_of_both_texts_is_accounted_for_exactly_once(old_text: str, new_text: str) -> None:
    rewrite = compare(old_text, new_text)
    assert covers(rewrite, old_text, new_text)
    assert all(old.text == new.text and old.occurrence == new.occurrence for old, new in rewrite.kept)


@given(TEXTS, TEXTS)
def test_old_minus_removed_plus_added_is_new(old_text: str, new_text: str) -> None:
    rewrite = compare(old_text, new_text)
    old, new = Counter(texts_of(old_text)), Counter(texts_of(new_text))
    removed, added = Counter(rewrite.removed), Counter(rewrite.added)
    assert old - removed + added == new
    assert removed == old - new
    assert added == new - old


@given(TEXTS)
def test_the_same_text_changes_nothing(text: str) -> None:
    rewrite = compare(text, text)
    assert (rewrite.edited, rewrite.removed_only, rewrite.added_only) == ((), (), ())


@given(TEXTS)
def test_lines_are_read_the_same_from_the_lines_alone(text: str) -> None:
    lines = texts_of(text)
    assert texts_of("\n".join(lines)) == lines
    assert [row for line in lines for row in line.split("\n")] == [
        row.rstrip() for row in text.split("\n") if row.strip()
    ]


@given(TEXTS, st.sampled_from(["a", "a\n  under", "new line"]))
def test_a_line_taken_back_is_there_once_more(text: str, line: str) -> None:
    assert Counter(texts_of(take_back(text, line))) == Counter([*texts_of(text), line])


def worst_cases() -> dict[str, tuple[str, str]]:
    chance = random.Random(7)  # noqa: S311 - the same noise every time, no secret

    def noise(characters: int, lines: int = 1) -> str:
        return "\n".join("".join(chance.choices("ab", k=characters)) for _ in range(lines))

    return {
        "2,000 lines of one character": ("\n".join("a" * 2_000), "\n".join("b" * 2_000)),
        "2,000 mixed lines": (noise(1, 2_000), noise(1, 2_000)),
        "one line": (noise(4_000), noise(4_000)),
        "shifted": ("ab" * 2_000, "ba" * 2_000),
        "30 lines": (noise(132, 30), noise(132, 30)),
        "8 lines": (noise(498, 8), noise(498, 8)),
    }


@pytest.mark.parametrize("name", worst_cases())
def test_the_time_of_a_comparison_is_bounded(name: str) -> None:
    old_text, new_text = worst_cases()[name]
    began = time.process_time()
    assert covers(compare(old_text, new_text), old_text, new_text)
    assert time.process_time() - began < 1.5


def test_the_closing_tag_is_found_in_any_case_with_its_place() -> None:
    assert find_closing_tag("one\nx ABC123 y\nabc12", "abc123") == [(2, "x ABC123 y", 2, 8)]
    assert find_closing_tag("\u0130 abc123", "abc123") == [(1, "\u0130 abc123", 2, 8)]
