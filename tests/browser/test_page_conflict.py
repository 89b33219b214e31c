"""The text changed while the page was open: nothing is overwritten unseen, and what was typed stays."""

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.browser.driving import draft, is_same_load, remember_this_load, save
from tests.cast import Cast

pytestmark = pytest.mark.browser

BOTH = pytest.mark.parametrize("kind", ["memory_page", "plain_memory_page"])
BEFORE = "Time zone: Europe/Berlin.\nOwns the billing service."
THEIRS = "Time zone: Europe/Berlin.\nOwns the payments service."
MINE = "Time zone: Europe/Berlin.\nOwns the billing service.\nPrefers short answers."


def page_in_conflict(request: pytest.FixtureRequest, cast: Cast, kind: str) -> Page:
    page: Page = request.getfixturevalue(kind)
    assert cast.owner.program.write(BEFORE).status_code == 200
    page.reload()
    draft(page).fill(MINE)
    assert cast.owner.assistant.write(THEIRS).status_code == 200
    save(page)
    expect(page.get_by_role("heading", name="Memory was changed elsewhere")).to_be_visible()
    return page


def stored(cast: Cast) -> str:
    return str(cast.owner.program.get("/v1/memory/block").get_json()["text"])


@BOTH
def test_both_texts_are_shown_and_neither_is_lost(request: pytest.FixtureRequest, cast: Cast, kind: str) -> None:
    page = page_in_conflict(request, cast, kind)
    assert stored(cast) == THEIRS
    expect(draft(page)).to_have_value(MINE)
    expect(page.locator("#problem")).to_contain_text("It was last changed by Demo assistant")
    expect(page.locator("#only-saved li")).to_have_text(["Owns the payments service."])
    expect(page.locator("#only-yours li")).to_have_text(["Owns the billing service.", "Prefers short answers."])
    page.locator("#saved-text summary").click()
    expect(page.locator("#saved-text blockquote")).to_have_text(THEIRS)


@BOTH
def test_save_anyway_overwrites(request: pytest.FixtureRequest, cast: Cast, kind: str) -> None:
    page = page_in_conflict(request, cast, kind)
    page.get_by_role("button", name="Save anyway").click()
    expect(page.locator("#status")).to_contain_text("Saved.")
    assert stored(cast) == MINE
    expect(page.locator("#problem")).to_have_count(0)


@BOTH
def test_loading_the_servers_copy_discards_the_draft(request: pytest.FixtureRequest, cast: Cast, kind: str) -> None:
    page = page_in_conflict(request, cast, kind)
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_role("link", name="Load the server’s copy").click()
    expect(page.locator("#problem")).to_have_count(0)
    expect(draft(page)).to_have_value(THEIRS)
    assert stored(cast) == THEIRS
    assert asked == []


@BOTH
def test_a_change_between_the_two_saves_is_caught_again(request: pytest.FixtureRequest, cast: Cast, kind: str) -> None:
    page = page_in_conflict(request, cast, kind)
    third = "Time zone: Asia/Kolkata."
    assert cast.owner.assistant.write(third).status_code == 200
    page.get_by_role("button", name="Save anyway").click()
    expect(page.locator("#only-saved li")).to_have_text([third])
    expect(draft(page)).to_have_value(MINE)
    assert stored(cast) == third
    page.get_by_role("button", name="Save anyway").click()
    expect(page.locator("#status")).to_contain_text("Saved.")
    assert stored(cast) == MINE


def test_with_javascript_the_conflict_comes_without_a_reload_and_takes_the_focus(
    request: pytest.FixtureRequest, cast: Cast
) -> None:
    page: Page = request.getfixturevalue("memory_page")
    remember_this_load(page)
    draft(page).fill(MINE)
    cast.owner.assistant.write(THEIRS)
    save(page)
    expect(page.locator("#problem")).to_be_focused()
    assert is_same_load(page)


def test_the_same_text_from_two_sides_is_no_conflict(memory_page: Page, cast: Cast) -> None:
    draft(memory_page).fill(MINE)
    cast.owner.assistant.write(MINE)
    save(memory_page)
    expect(memory_page.locator("#status")).to_contain_text("Nothing to save")
    assert stored(cast) == MINE


def test_a_block_cleared_elsewhere_is_a_conflict_too(memory_page: Page, cast: Cast) -> None:
    cast.owner.program.write(BEFORE)
    memory_page.reload()
    draft(memory_page).fill(MINE)
    assert cast.owner.program.delete("/v1/memory/block").status_code < 300
    save(memory_page)
    expect(memory_page.locator("#problem")).to_contain_text("Nothing is remembered now.")
    expect(draft(memory_page)).to_have_value(MINE)
