"""Memory switched off: nothing is added and nothing personal loads; removing always works."""

import pytest
from blocks import MEMORY, block_of, changes_of, entries, post, problem_of, save_by_form, text_of

from tests.cast import Cast
from tests.world import World


def switch(cast: Cast, on: bool) -> None:
    reply = cast.owner.program.put("/v1/memory/switch", {"on": on})
    assert (reply.status_code, reply.get_json()) == (200, {"on": on})


@pytest.fixture
def off(cast: Cast) -> Cast:
    """The owner with three lines and memory switched off."""
    cast.owner.assistant.write("one\ntwo\nthree")
    switch(cast, on=False)
    return cast


def test_every_write_of_the_model_is_refused(off: Cast) -> None:
    for text in ("one\ntwo\nthree\nfour", "one\ntwo", "one\ntwo\nthree", "", "x" * 4_001):
        assert problem_of(off.owner.assistant.write(text)) == (403, "memory_off")
    assert text_of(off.owner) == "one\ntwo\nthree"


def test_the_user_can_remove_and_move_and_not_add(off: Cast) -> None:
    for text in ("one\ntwo\nthree\nfour", "one\ntwo\nthree!", "one\none\ntwo\nthree"):
        assert problem_of(off.owner.program.write(text)) == (403, "memory_off")
    assert text_of(off.owner) == "one\ntwo\nthree"
    assert off.owner.program.write("three\none").get_json()["removed"] == ["two"]
    assert save_by_form(off.owner.browser(), "three").status_code == 303
    assert text_of(off.owner) == "three"


def test_an_addition_by_the_page_is_refused_and_what_was_typed_is_kept(off: Cast) -> None:
    reply = save_by_form(off.owner.browser(), "one\ntwo\nthree\ntyped with care")
    assert reply.status_code == 403
    assert "typed with care" in reply.text
    assert text_of(off.owner) == "one\ntwo\nthree"


def test_clearing_and_reading_work(off: Cast) -> None:
    assert block_of(off.owner)["characters"] == 13
    assert off.owner.program.delete("/v1/memory/block").get_json()["removed_lines"] == 3
    assert block_of(off.owner)["exists"] is False
    assert problem_of(off.owner.program.write("new")) == (403, "memory_off")


def test_the_prompt_carries_nothing_personal(off: Cast) -> None:
    prompt = off.owner.assistant.get("/v1/prompt").get_json()
    assert prompt["memory"]["on"] is False
    assert prompt["memory"]["characters"] == 0
    assert "three" not in prompt["text"].split("# Personal memory")[1]
    assert "switched off" in prompt["text"]
    switch(off, on=True)
    assert "one\ntwo\nthree" in off.owner.assistant.get("/v1/prompt").get_json()["text"]


def test_an_assistant_cannot_switch(cast: Cast) -> None:
    for on in (True, False):
        refused = cast.owner.assistant.put("/v1/memory/switch", {"on": on})
        assert problem_of(refused) == (403, "scope_missing")


def test_switching_is_an_entry_once(world: World, cast: Cast) -> None:
    for on in (True, False, False, True):
        switch(cast, on=on)
    assert entries(world, "memory.switch") == 2
    assert [change["counts"] for change in changes_of(cast.owner.program)] == [{"on": True}, {"on": False}]


def test_the_page_switches_and_says_so(cast: Cast) -> None:
    browser = cast.owner.browser()
    for value, notice in (("0", "Memory is off."), ("1", "Memory is on.")):
        reply = post(browser, f"{MEMORY}/switch", on=value)
        assert reply.status_code == 303
        assert notice in browser.get(reply.headers["Location"]).text
    assert post(browser, f"{MEMORY}/switch", on="maybe").status_code == 422
    assert post(browser, f"{MEMORY}/switch").status_code == 422


@pytest.mark.parametrize("on", ["true", 1, 0, "on", None, [], {}])
def test_the_switch_takes_true_or_false_alone(on: object, cast: Cast) -> None:
    assert problem_of(cast.owner.program.put("/v1/memory/switch", {"on": on})) == (422, "invalid_request")
    assert cast.owner.assistant.get("/v1/prompt").get_json()["memory"]["on"] is True


def test_one_person_s_switch_is_nobody_else_s(off: Cast) -> None:
    for name, person in off:
        if name != "owner":
            assert person.assistant.write("still works").status_code == 200


def test_an_assistant_reads_nothing_of_it_and_the_user_reads_all(off: Cast) -> None:
    """Nothing personal loads by any door."""
    for path in ("/v1/memory/block", "/v1/memory/changes"):
        assert problem_of(off.owner.assistant.get(path)) == (403, "memory_off")
        assert "two" in off.owner.program.get(path).text
    switch(off, on=True)
    assert "two" in off.owner.assistant.get("/v1/memory/block").text
