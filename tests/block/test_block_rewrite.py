"""A rewrite: what it reports, what wins, and what a caller may ask for."""

import pytest
from blocks import block_of, entries, problem_of, text_of
from werkzeug.test import TestResponse

from tests.cast import Calls, Cast
from tests.world import World

BLOCK = "/v1/memory/block"


def write_if(calls: Calls, text: str, condition: str) -> TestResponse:
    return calls.put(BLOCK, {"text": text}, headers={"If-Match": condition})


def test_the_reply_names_what_was_removed_and_added(cast: Cast) -> None:
    calls = cast.owner.assistant
    first = calls.write("a\nb\n  under b\nc").get_json()
    assert (first["removed"], first["added"]) == ([], ["a", "b\n  under b", "c"])
    second = calls.write("c\nb\n  under b, changed\nd\nd").get_json()
    assert (second["removed"], second["added"]) == (["a", "b\n  under b"], ["b\n  under b, changed", "d", "d"])
    assert (second["held"], second["withheld"], second["limit"]) == ([], [], 4_000)
    third = calls.write("b\n  under b, changed\nd\nc").get_json()
    assert (third["removed"], third["added"]) == (["d"], [])


def test_the_identical_text_changes_nothing_and_writes_no_entry(world: World, cast: Cast) -> None:
    cast.owner.assistant.write("a\nb")
    before = block_of(cast.owner)
    for calls in (cast.owner.assistant, cast.owner.program):
        for same in ("a\nb", " a\r\nb\n\n"):
            saved = calls.write(same).get_json()
            assert (saved["text"], saved["removed"], saved["added"]) == ("a\nb", [], [])
    assert block_of(cast.owner) == before
    assert entries(world) == 1


def test_of_two_whole_texts_the_later_wins(cast: Cast) -> None:
    cast.owner.assistant.write("both started from this")
    cast.owner.program.write("the user's")
    assert cast.owner.assistant.write("the model's").get_json()["removed"] == ["the user's"]
    assert text_of(cast.owner) == "the model's"
    assert block_of(cast.owner)["updated_by"] == {"writer": "model", "client": "demo-assistant"}


def test_a_condition_that_holds_lets_the_write_through(cast: Cast) -> None:
    calls = cast.owner.assistant
    nothing_yet = calls.get(BLOCK).headers["ETag"]
    assert write_if(calls, "one", nothing_yet).status_code == 200
    one = calls.get(BLOCK).headers["ETag"]
    assert write_if(calls, "two", one).status_code == 200
    two = calls.get(BLOCK).headers["ETag"]
    assert write_if(calls, "three", f'"other", {two}').status_code == 200
    assert write_if(calls, "four", "*").status_code == 200
    assert text_of(cast.owner) == "four"


@pytest.mark.parametrize("condition", ['"other"', "", "garbage", 'W/"x"', '""'])
def test_a_condition_that_does_not_hold_stores_nothing(condition: str, world: World, cast: Cast) -> None:
    cast.owner.assistant.write("stays")
    refused = write_if(cast.owner.assistant, "lost update", condition)
    assert problem_of(refused) == (412, "block_changed")
    assert text_of(cast.owner) == "stays"
    assert entries(world) == 1


def test_a_condition_on_an_older_state_does_not_hold(cast: Cast) -> None:
    calls = cast.owner.assistant
    nothing_yet = calls.get(BLOCK).headers["ETag"]
    assert problem_of(write_if(calls, "x", "*")) == (412, "block_changed")
    calls.write("one")
    one = calls.get(BLOCK).headers["ETag"]
    calls.write("two")
    calls.write("one")
    for old in (nothing_yet, one, f"W/{calls.get(BLOCK).headers['ETag']}"):
        assert problem_of(write_if(calls, "x", old)) == (412, "block_changed")
    assert text_of(cast.owner) == "one"


def test_the_condition_is_answered_before_the_text_is_judged(cast: Cast) -> None:
    cast.owner.assistant.write("stays")
    for text in ("", "x" * 4_001):
        assert problem_of(write_if(cast.owner.assistant, text, '"other"')) == (412, "block_changed")


def test_a_copy_that_is_current_is_not_sent_again(cast: Cast) -> None:
    calls = cast.owner.assistant
    calls.write("one")
    seen = calls.get(BLOCK)
    assert seen.headers["Cache-Control"] == "private, no-store"
    again = calls.get(BLOCK, headers={"If-None-Match": seen.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["Cache-Control"] == "private, no-store"
    calls.write("two")
    assert calls.get(BLOCK, headers={"If-None-Match": seen.headers["ETag"]}).get_json()["text"] == "two"
    cast.owner.program.delete(BLOCK)
    assert calls.get(BLOCK, headers={"If-None-Match": seen.headers["ETag"]}).get_json()["exists"] is False


def test_two_people_with_the_same_text_have_no_validator_in_common(cast: Cast) -> None:
    for person in (cast.owner, cast.teammate):
        person.assistant.write("the same")
    seen = cast.owner.assistant.get(BLOCK).headers["ETag"]
    assert cast.teammate.assistant.get(BLOCK, headers={"If-None-Match": seen}).status_code == 200
    assert problem_of(write_if(cast.teammate.assistant, "x", seen)) == (412, "block_changed")
