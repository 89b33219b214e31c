"""Nobody but the owner sees or changes the owner's block, whatever their role and by whatever door."""

import pytest
from blocks import MEMORY, places_of, text_of

from tests.cast import LOGIN_NAMES, Cast
from tests.world import World

WORD = "zyxquokka77"
OTHERS = [name for name in LOGIN_NAMES if name != "owner"]
READS = ["/v1/memory/block", "/v1/memory/changes", "/v1/prompt"]


@pytest.fixture
def written(cast: Cast) -> Cast:
    """The owner has a line, and one that the model removed."""
    cast.owner.assistant.write(f"Stays {WORD}.\nGone {WORD}.")
    cast.owner.assistant.write(f"Stays {WORD}.")
    return cast


def test_the_owner_sees_it_by_every_door_so_that_the_rest_means_something(written: Cast) -> None:
    for calls in (written.owner.assistant, written.owner.program):
        assert all(WORD in calls.get(path).text for path in READS)
    browser = written.owner.browser()
    assert browser.get(MEMORY).text.count(WORD) >= 2
    assert all(WORD in browser.get(path).text for path in READS)


@pytest.mark.parametrize("name", OTHERS)
def test_nobody_else_sees_a_word_of_it(name: str, written: Cast) -> None:
    person = getattr(written, name)
    for calls in (person.assistant, person.program):
        for path in READS:
            reply = calls.get(path)
            assert reply.status_code == 200
            assert WORD not in reply.text
    browser = person.browser()
    for path in (MEMORY, f"{MEMORY}/clear", *READS):
        assert WORD not in browser.get(path).text


@pytest.mark.parametrize("name", OTHERS)
def test_nobody_else_changes_it(name: str, world: World, written: Cast) -> None:
    person = getattr(written, name)
    person.assistant.write("mine")
    person.program.write("mine too")
    assert person.program.delete("/v1/memory/block").get_json()["removed_lines"] == 1
    person.program.put("/v1/memory/switch", {"on": False})
    assert text_of(written.owner) == f"Stays {WORD}."
    assert written.owner.assistant.get("/v1/prompt").get_json()["memory"]["on"] is True
    assert places_of(world, WORD) == ["app.audit_details", "app.blocks"]
    person.program.put("/v1/memory/switch", {"on": True})
