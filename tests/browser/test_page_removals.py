"""Clearing, switching off and on, taking a line back and forgetting it, by the page."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import MEMORY, draft, is_same_load, remember_this_load, save
from tests.cast import Cast
from tests.world import World

pytestmark = pytest.mark.browser

BOTH = pytest.mark.parametrize("kind", ["memory_page", "plain_memory_page"])
KEPT, REMOVED, ALSO_REMOVED = "Time zone: Europe/Berlin.", "Owns the billing service.", "Prefers tables."


def page_of(request: pytest.FixtureRequest, kind: str) -> Page:
    page: Page = request.getfixturevalue(kind)
    return page


def let_the_assistant_remove(cast: Cast) -> None:
    assert cast.owner.assistant.write("\n".join((KEPT, REMOVED, ALSO_REMOVED))).status_code == 200
    assert cast.owner.assistant.write(KEPT).status_code == 200


def stored(cast: Cast) -> str | None:
    text: str | None = cast.owner.program.get("/v1/memory/block").get_json()["text"]
    return text


@BOTH
def test_clearing_asks_once_more_and_keeping_keeps(request: pytest.FixtureRequest, cast: Cast, kind: str) -> None:
    page = page_of(request, kind)
    let_the_assistant_remove(cast)
    page.reload()
    page.get_by_role("link", name="Clear everything…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Clear everything?")
    expect(page.locator(".lead")).to_contain_text(f"1 line, {len(KEPT)} characters")
    assert stored(cast) == KEPT
    page.get_by_role("link", name="Keep it").click()
    expect(draft(page)).to_have_value(KEPT)
    assert stored(cast) == KEPT


@BOTH
def test_clearing_removes_the_text_and_the_words_of_all_changes(
    request: pytest.FixtureRequest, cast: Cast, world: World, kind: str
) -> None:
    page = page_of(request, kind)
    let_the_assistant_remove(cast)
    page.goto(f"{MEMORY}/clear")
    page.get_by_role("button", name="Clear everything").click()
    expect(page.locator("#status")).to_have_text("Everything was removed. Nothing is remembered.")
    expect(draft(page)).to_have_value("")
    expect(page.locator("#memory-example")).to_be_visible()
    expect(page.locator(".change").first).to_contain_text("Cleared everything: 1 line.")
    expect(page.locator(".changed-lines li")).to_have_count(0)
    assert world.rows("SELECT count(*) FROM app.blocks") == [(0,)]
    assert world.rows("SELECT count(*) FROM app.audit_details") == [(0,)]


@BOTH
def test_memory_is_switched_off_and_on(request: pytest.FixtureRequest, cast: Cast, kind: str) -> None:
    page = page_of(request, kind)
    cast.owner.program.write(KEPT)
    page.reload()
    page.get_by_role("button", name="Switch memory off").click()
    expect(page.get_by_role("heading", name="Memory is off")).to_be_visible()
    expect(draft(page)).to_have_value(KEPT)
    assert KEPT not in cast.owner.assistant.get("/v1/prompt").get_data(as_text=True)
    page.get_by_role("button", name="Switch memory on").click()
    expect(page.locator("#status")).to_have_text("Memory is on.")
    expect(page.get_by_role("heading", name="Memory is off")).to_have_count(0)
    assert KEPT in cast.owner.assistant.get("/v1/prompt").get_data(as_text=True)


@BOTH
def test_while_off_a_line_added_is_refused_with_the_draft_kept_and_saved_with_the_switch(
    request: pytest.FixtureRequest, cast: Cast, kind: str
) -> None:
    page = page_of(request, kind)
    cast.owner.program.write(KEPT)
    page.reload()
    page.get_by_role("button", name="Switch memory off").click()
    expect(page.locator("#memory-off")).to_be_visible()
    draft(page).fill(f"{KEPT}\n{REMOVED}")
    save(page)
    expect(page.locator("#problem")).to_contain_text("lines can be removed but not added")
    expect(draft(page)).to_have_value(f"{KEPT}\n{REMOVED}")
    assert stored(cast) == KEPT
    page.get_by_role("button", name="Switch memory on and save").click()
    expect(page.locator("#status")).to_contain_text("Saved. 1 line added.")
    expect(page.locator("#memory-off")).to_have_count(0)
    assert stored(cast) == f"{KEPT}\n{REMOVED}"


@BOTH
def test_while_off_lines_can_be_removed(request: pytest.FixtureRequest, cast: Cast, kind: str) -> None:
    page = page_of(request, kind)
    cast.owner.program.write(f"{KEPT}\n{REMOVED}")
    page.reload()
    page.get_by_role("button", name="Switch memory off").click()
    expect(page.locator("#memory-off")).to_be_visible()
    draft(page).fill(KEPT)
    save(page)
    expect(page.locator("#status")).to_contain_text("Saved. 1 line removed.")
    assert stored(cast) == KEPT


@BOTH
def test_a_removed_line_is_taken_back_and_another_forgotten(
    request: pytest.FixtureRequest, cast: Cast, world: World, kind: str
) -> None:
    page = page_of(request, kind)
    let_the_assistant_remove(cast)
    page.reload()
    expect(page.locator(".change").first).to_contain_text("Removed lines can be taken back until")
    page.locator(".is-removed", has_text=REMOVED).get_by_role("button", name="Take back").click()
    expect(page.locator("#status")).to_have_text("The line is back at the end of your memory.")
    expect(draft(page)).to_have_value(f"{KEPT}\n{REMOVED}")
    assert stored(cast) == f"{KEPT}\n{REMOVED}"
    page.locator(".is-removed", has_text=ALSO_REMOVED).get_by_role("button", name="Forget it now").click()
    expect(page.locator("#status")).to_have_text("The line is gone for good.")
    expect(page.locator(".is-removed")).to_have_count(0)
    assert world.rows("SELECT count(*) FROM app.audit_details WHERE text = %s", ALSO_REMOVED) == [(0,)]


def test_taking_a_line_back_keeps_what_is_typed_and_the_next_save_notices(memory_page: Page, cast: Cast) -> None:
    let_the_assistant_remove(cast)
    memory_page.reload()
    remember_this_load(memory_page)
    draft(memory_page).fill(f"{KEPT}\nTyped.")
    memory_page.locator(".is-removed", has_text=REMOVED).get_by_role("button", name="Take back").click()
    expect(memory_page.locator("#status")).to_have_text("The line is back at the end of your memory.")
    expect(draft(memory_page)).to_have_value(f"{KEPT}\nTyped.")
    assert is_same_load(memory_page)
    save(memory_page)
    expect(memory_page.locator("#only-saved li")).to_have_text([REMOVED])


@BOTH
def test_a_line_that_is_no_longer_kept_or_has_no_room_is_refused_on_the_page(
    request: pytest.FixtureRequest, cast: Cast, kind: str
) -> None:
    page = page_of(request, kind)
    let_the_assistant_remove(cast)
    full = KEPT + "x" * (4_000 - len(KEPT))
    cast.owner.assistant.write(full)
    page.reload()
    other = page.context.new_page()
    other.goto(MEMORY)
    other.locator(".is-removed", has_text=ALSO_REMOVED).get_by_role("button", name="Forget it now").click()
    expect(other.locator("#status")).to_have_text("The line is gone for good.")
    page.locator(".is-removed", has_text=ALSO_REMOVED).get_by_role("button", name="Take back").click()
    expect(page.locator("#status .is-problem")).to_contain_text("That line is no longer kept")
    page.locator(".is-removed", has_text=REMOVED).get_by_role("button", name="Take back").click()
    expect(page.locator("#status .is-problem")).to_contain_text("There is no room for that line.")
    expect(draft(page)).to_have_value(full)
