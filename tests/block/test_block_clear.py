"""Clearing: the user's alone, for good; afterwards nothing is remembered."""

import pytest
from blocks import MEMORY, block_of, changes_of, entries, post, problem_of, text_of

from tests.cast import Cast
from tests.world import World

BLOCK = "/v1/memory/block"


def test_an_assistant_cannot_clear(cast: Cast) -> None:
    cast.owner.assistant.write("Stays.")
    refused = cast.owner.assistant.delete(BLOCK)
    assert problem_of(refused) == (403, "scope_missing")
    assert refused.get_json()["scope"] == "memory:manage"
    assert text_of(cast.owner) == "Stays."


def test_after_a_clear_nothing_is_remembered_and_no_row_is_left(world: World, cast: Cast) -> None:
    cast.owner.assistant.write("a\nb")
    cast.owner.assistant.write("a")
    cast.owner.program.write("a\nc")
    reply = cast.owner.program.delete(BLOCK)
    assert reply.get_json() == {"removed_lines": 2, "removed_stale": 0, "removed_suggestions": 0}
    block = block_of(cast.owner)
    assert (block["text"], block["exists"], block["characters"], block["lines"]) == ("", False, 0, [])
    assert (block["updated_at"], block["updated_by"]) == (None, None)
    for table in ("blocks", "block_lines", "audit_details"):
        assert world.rows(f"SELECT count(*) FROM app.{table}") == [(0,)]
    assert [change["details"] for change in changes_of(cast.owner.program)] == [[]] * 4
    assert "Nothing is remembered yet" in cast.owner.browser().get(MEMORY).text


def test_clearing_removes_the_details_even_when_the_block_is_empty_already(world: World, cast: Cast) -> None:
    cast.owner.assistant.write("a\nb")
    cast.owner.program.delete(BLOCK)
    assert cast.owner.program.delete(BLOCK).get_json()["removed_lines"] == 0
    assert entries(world, "block.clear") == 1


def test_a_clear_touches_nobody_else_s(world: World, cast: Cast) -> None:
    for _, person in cast:
        person.assistant.write("a\nb")
        person.assistant.write("a")
    cast.owner.program.delete(BLOCK)
    assert block_of(cast.owner)["exists"] is False
    others = [person for name, person in cast if name != "owner"]
    assert [text_of(person) for person in others] == ["a"] * len(others)
    assert world.rows("SELECT count(DISTINCT user_id) FROM app.audit_details") == [(len(others),)]


def test_the_page_asks_once_more_and_says_what_goes(cast: Cast) -> None:
    cast.owner.assistant.write("a\nb\n  under b")
    browser = cast.owner.browser()
    assert 'href="/settings/memory/clear"' in browser.get(MEMORY).text
    question = browser.get(f"{MEMORY}/clear").text
    assert "2 lines" in question
    assert text_of(cast.owner) == "a\nb\n  under b"
    assert post(browser, f"{MEMORY}/clear").status_code == 422
    assert post(browser, f"{MEMORY}/clear", confirm="yes").status_code == 422
    assert text_of(cast.owner) == "a\nb\n  under b"
    assert post(browser, f"{MEMORY}/clear", confirm="clear").status_code == 303
    assert block_of(cast.owner)["exists"] is False


@pytest.mark.parametrize("way", ["user", "assistant"])
def test_writing_after_a_clear_starts_anew(way: str, cast: Cast) -> None:
    cast.owner.assistant.write("a")
    cast.owner.program.delete(BLOCK)
    calls = cast.owner.program if way == "user" else cast.owner.assistant
    saved = calls.write("b").get_json()
    assert (saved["removed"], saved["added"]) == ([], ["b"])
    assert changes_of(calls)[0]["counts"]["characters_before"] == 0


def test_a_clear_can_ask_that_nothing_changed(cast: Cast) -> None:
    stale = cast.owner.program.get("/v1/memory/block").headers["ETag"]
    current = cast.owner.program.write("- one").headers["ETag"]
    refused = cast.owner.program.delete("/v1/memory/block", headers={"If-Match": stale})
    assert problem_of(refused) == (412, "block_changed")
    assert block_of(cast.owner)["exists"] is True
    assert cast.owner.program.delete("/v1/memory/block", headers={"If-Match": current}).status_code == 200
