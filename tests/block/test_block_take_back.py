"""A line that the model removed: taken back, forgotten, or gone after 30 days."""

from datetime import timedelta
from typing import Any

import pytest
from blocks import MEMORY, changes_of, places_of, post, text_of

from memory.audit.retention import remove_expired_details
from tenancy.database import operator_login
from tenancy.migrate import as_maintainer
from tests.cast import Calls, Cast
from tests.world import World

WORD = "zyxquokka77"
TAKE_BACK, FORGET = f"{MEMORY}/changes/take-back", f"{MEMORY}/changes/forget"


def removed_by_the_model(cast: Cast, line: str = f"Likes {WORD}.") -> dict[str, Any]:
    """Let the model drop a line; return the form's fields that name it."""
    cast.owner.assistant.write(f"Stays.\n{line}")
    cast.owner.assistant.write("Stays.")
    newest = changes_of(cast.owner.program)[0]
    [detail] = [detail for detail in newest["details"] if detail["change"] == "removed"]
    return {"event_id": newest["id"], "place": detail["place"]}


def test_a_line_comes_back_at_the_end_and_is_offered_no_more(cast: Cast) -> None:
    named = removed_by_the_model(cast, f"Likes {WORD}.\n  and under it")
    browser = cast.owner.browser()
    assert f'value="{named["event_id"]}"' in browser.get(MEMORY).text
    assert post(browser, TAKE_BACK, **named).status_code == 303
    assert text_of(cast.owner) == f"Stays.\nLikes {WORD}.\n  and under it"
    newest, dropped, _ = changes_of(cast.owner.program)
    assert (newest["writer"], newest["client"]) == ("user", "web")
    assert [detail["text"] for detail in newest["details"]] == [f"Likes {WORD}.\n  and under it"]
    assert dropped["details"] == []
    assert post(browser, TAKE_BACK, **named).status_code == 404
    assert text_of(cast.owner).count(WORD) == 1


def test_a_forgotten_line_is_nowhere_any_more(world: World, cast: Cast) -> None:
    named = removed_by_the_model(cast)
    assert places_of(world, WORD) == ["app.audit_details"]
    browser = cast.owner.browser()
    assert post(browser, FORGET, **named).status_code == 303
    assert places_of(world, WORD) == []
    assert text_of(cast.owner) == "Stays."
    assert post(browser, TAKE_BACK, **named).status_code == 404


def test_no_room_to_take_a_line_back_keeps_both_text_and_line(cast: Cast) -> None:
    named = removed_by_the_model(cast)
    full = "x" * 3_995
    cast.owner.assistant.write(full)
    browser = cast.owner.browser()
    assert post(browser, TAKE_BACK, **named).status_code == 422
    assert text_of(cast.owner) == full
    assert WORD in str(changes_of(cast.owner.program))
    cast.owner.program.write("short")
    assert post(browser, TAKE_BACK, **named).status_code == 303
    assert text_of(cast.owner) == f"short\nLikes {WORD}."


def test_a_line_comes_back_into_a_memory_that_was_emptied_meanwhile(cast: Cast) -> None:
    cast.owner.assistant.write("Only.")
    cast.owner.assistant.write("Another.")
    newest = changes_of(cast.owner.program)[0]
    assert post(cast.owner.browser(), TAKE_BACK, event_id=newest["id"], place=1).status_code == 303
    assert text_of(cast.owner) == "Another.\nOnly."


def test_while_memory_is_off_a_line_can_be_forgotten_and_not_taken_back(world: World, cast: Cast) -> None:
    named = removed_by_the_model(cast)
    cast.owner.program.put("/v1/memory/switch", {"on": False})
    browser = cast.owner.browser()
    assert post(browser, TAKE_BACK, **named).status_code == 403
    assert text_of(cast.owner) == "Stays."
    assert post(browser, FORGET, **named).status_code == 303
    assert places_of(world, WORD) == []


@pytest.mark.parametrize("path", [TAKE_BACK, FORGET])
def test_nobody_else_reaches_a_line_by_its_entry(path: str, world: World, cast: Cast) -> None:
    named = removed_by_the_model(cast)
    for name in ("teammate", "lead", "reviewer", "admin", "stranger"):
        assert post(getattr(cast, name).browser(), path, **named).status_code == 404
    assert places_of(world, WORD) == ["app.audit_details"]
    assert post(cast.owner.browser(), path, **named).status_code == 303


@pytest.mark.parametrize(
    "fields",
    [{}, {"event_id": "x", "place": "1"}, {"place": "1"}, {"event_id": "019a0000-0000-7000-8000-000000000000"},
     {"event_id": "019a0000-0000-7000-8000-000000000000", "place": "99999999999999999999"},
     {"event_id": "nul\0", "place": "1"}, {"event_id": "019a0000-0000-7000-8000-000000000000", "place": "-1"}],
)  # fmt: skip
@pytest.mark.parametrize("path", [TAKE_BACK, FORGET])
def test_a_form_that_names_no_line_is_answered_not_found(path: str, fields: dict[str, str], cast: Cast) -> None:
    assert post(cast.owner.browser(), path, **fields).status_code == 404


def test_an_added_line_cannot_be_forgotten_through_this_form(cast: Cast) -> None:
    cast.owner.assistant.write("Added.")
    [entry] = changes_of(cast.owner.program)
    for path in (TAKE_BACK, FORGET):
        assert post(cast.owner.browser(), path, event_id=entry["id"], place=1).status_code == 404
    assert "Added." in str(changes_of(cast.owner.program))


def test_after_30_days_a_line_is_offered_no_more_and_then_removed(world: World, cast: Cast) -> None:
    named = removed_by_the_model(cast)
    world.move_clock(timedelta(days=29, hours=23))
    browser = cast.owner.browser()
    assert f'value="{named["event_id"]}"' in browser.get(MEMORY).text
    assert expire(world) == 0

    world.move_clock(timedelta(days=30, minutes=1))
    assert f'value="{named["event_id"]}"' not in browser.get(MEMORY).text
    dropped = changes_of(cast.owner.program)[0]
    assert (dropped["details"], dropped["counts"]["removed"]) == ([], 1)
    for path in (TAKE_BACK, FORGET):
        assert post(browser, path, **named).status_code == 404

    assert places_of(world, WORD) == ["app.audit_details"]
    assert expire(world) == 2
    assert places_of(world, WORD) == []
    assert world.rows("SELECT change, text FROM app.audit_details") == [("added", "Stays.")]
    assert len(changes_of(cast.owner.program)) == 2


def expire(world: World) -> int:
    now = world.clock.now()
    return as_maintainer(operator_login(world.settings), lambda connection: remove_expired_details(connection, now))


def test_forgetting_reaches_what_was_digested_under_the_key_before(world: World, cast: Cast) -> None:
    """A line that the model removed before and after the secret key was rotated is forgotten in both entries."""
    removed_by_the_model(cast)
    old_key = (world.settings.data_folder / "keys" / "secret_key").read_text("ascii").strip()
    with world.another_app(KEEPLINE_SECRET_KEY="n" * 40, KEEPLINE_SECRET_KEY_PREVIOUS=old_key) as app:
        calls = Calls(app.test_client(), cast.owner.assistant.token)
        for text in (f"Stays.\nLikes {WORD}.", "Stays."):
            assert calls.write(text).status_code == 200
        newest = changes_of(calls)[0]
        [detail] = newest["details"]
        browser = app.test_client()
        browser.get(cast.owner.answer_of_provider(browser, "acme"))
        assert post(browser, FORGET, event_id=newest["id"], place=detail["place"]).status_code == 303
    left = world.rows("SELECT change, text FROM app.audit_details WHERE text LIKE %s", f"%{WORD}%")
    assert left == []


def test_a_line_that_was_typed_again_meanwhile_is_not_doubled(cast: Cast) -> None:
    named = removed_by_the_model(cast)
    cast.owner.program.write(f"Likes {WORD}.\nStays.")
    browser = cast.owner.browser()
    assert post(browser, TAKE_BACK, **named).status_code == 303
    assert text_of(cast.owner) == f"Likes {WORD}.\nStays."
    assert post(browser, TAKE_BACK, **named).status_code == 404


def test_what_the_model_edits_expires_as_well_and_what_is_still_there_does_not(world: World, cast: Cast) -> None:
    cast.owner.assistant.write(f"Likes {WORD} in the morning.\nStays.\nStays.")
    cast.owner.assistant.write("Likes tea in the morning.\nStays.")
    world.move_clock(timedelta(days=30, minutes=1))
    assert expire(world) == 3
    assert places_of(world, WORD) == []
    left = [text for (text,) in world.rows("SELECT text FROM app.audit_details ORDER BY event_id, place")]
    assert left == ["Stays.", "Stays.", "Likes tea in the morning."]
