"""Saving the memory text by the page: exact, counted, listed, refused with the draft kept."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.driving import MEMORY, draft, is_same_load, remember_this_load, save
from tests.cast import Cast

pytestmark = pytest.mark.browser

TEXT = "# Work\nOwns the billing service.\n  Deputy: Jonas Weber.\n\nWrites “quotes”, tabs\tand <b>signs</b> & more."


def stored(cast: Cast) -> str:
    return str(cast.owner.program.get("/v1/memory/block").get_json()["text"])


@pytest.mark.parametrize("kind", ["memory_page", "plain_memory_page"])
def test_a_saved_text_is_stored_exactly_counted_and_listed(
    request: pytest.FixtureRequest, cast: Cast, kind: str
) -> None:
    page: Page = request.getfixturevalue(kind)
    draft(page).fill(TEXT)
    save(page)
    expect(page.locator("#status")).to_have_text("Saved. 3 lines added.")
    assert stored(cast) == TEXT
    expect(draft(page)).to_have_value(TEXT)
    expect(page.locator("#usage")).to_have_text(f"{len(TEXT)} of 4,000 characters")
    change = page.locator(".change").first
    expect(change.locator(".change-head b")).to_have_text("You")
    expect(change).to_contain_text("Owns the billing service.\n  Deputy: Jonas Weber.")
    expect(change.locator(".is-added")).to_have_count(3)
    page.reload()
    expect(draft(page)).to_have_value(TEXT)


def test_with_javascript_saving_neither_reloads_nor_moves_the_page(memory_page: Page) -> None:
    remember_this_load(memory_page)
    draft(memory_page).fill("One.")
    expect(memory_page.locator("#unsaved")).to_be_visible()
    save(memory_page)
    expect(memory_page.locator("#status")).to_have_text("Saved. 1 line added.")
    expect(memory_page.locator("#unsaved")).to_be_hidden()
    expect(memory_page.locator("#save-button")).to_be_focused()
    assert is_same_load(memory_page)
    assert memory_page.url == MEMORY


def test_typing_while_a_save_is_under_way_is_not_lost(memory_page: Page, cast: Cast) -> None:
    def hold(route: Route) -> None:
        memory_page.wait_for_timeout(400)
        route.continue_()

    draft(memory_page).fill("First.")
    memory_page.route("**/settings/memory", hold)
    memory_page.locator("#save-button").click(no_wait_after=True)
    draft(memory_page).fill("First.\nSecond, typed meanwhile.")
    expect(memory_page.locator(".change")).to_have_count(1)
    assert stored(cast) == "First."
    expect(draft(memory_page)).to_have_value("First.\nSecond, typed meanwhile.")
    memory_page.unroute("**/settings/memory")
    save(memory_page)
    expect(memory_page.locator(".change")).to_have_count(2)
    assert stored(cast) == "First.\nSecond, typed meanwhile."


def test_the_same_text_again_changes_nothing_and_another_order_is_said(memory_page: Page, cast: Cast) -> None:
    cast.owner.program.write("One.\nTwo.")
    memory_page.reload()
    save(memory_page)
    expect(memory_page.locator("#status")).to_contain_text("Nothing to save")
    expect(memory_page.locator(".change")).to_have_count(1)
    draft(memory_page).fill("Two.\nOne.")
    save(memory_page)
    expect(memory_page.locator("#status")).to_contain_text("Saved. The lines are the same")
    assert stored(cast) == "Two.\nOne."
    expect(memory_page.locator(".change").first).to_contain_text("Changed the order of the lines")


@pytest.mark.parametrize("kind", ["memory_page", "plain_memory_page"])
def test_an_empty_text_is_refused_and_points_to_clearing(request: pytest.FixtureRequest, cast: Cast, kind: str) -> None:
    page: Page = request.getfixturevalue(kind)
    cast.owner.program.write("Stays.")
    page.reload()
    draft(page).fill(" \n")
    save(page)
    expect(page.locator("#problem")).to_contain_text("To remove all of it, clear it.")
    expect(page.locator("#clear-link")).to_be_visible()
    assert stored(cast) == "Stays."


@pytest.mark.parametrize("kind", ["memory_page", "plain_memory_page"])
def test_over_the_limit_the_count_is_said_and_the_draft_kept(
    request: pytest.FixtureRequest, cast: Cast, kind: str
) -> None:
    page: Page = request.getfixturevalue(kind)
    cast.owner.program.write("Stays.")
    page.reload()
    long = "x" * 4_001
    draft(page).fill(long)
    save(page)
    expect(page.locator("#problem")).to_contain_text("The text has 4,001 characters and the limit is 4,000.")
    expect(page.locator("#usage")).to_contain_text("4,001 of 4,000 characters, 1 too many")
    expect(draft(page)).to_have_value(long)
    expect(draft(page)).to_have_attribute("aria-invalid", "true")
    expect(page).to_have_title("Not saved: Memory · Keepline")
    assert stored(cast) == "Stays."
    draft(page).fill(long[1:])
    save(page)
    expect(page.locator("#status")).to_contain_text("Saved.")
    assert stored(cast) == long[1:]


@pytest.mark.parametrize(
    ("text", "length"), [("\U0001f600" * 4_000, 4_000), ("e\u0301" * 2_000, 4_000)], ids=["emoji", "combining"]
)
def test_the_counter_agrees_with_the_server(memory_page: Page, cast: Cast, text: str, length: int) -> None:
    draft(memory_page).fill(text)
    expect(memory_page.locator("#usage")).to_have_text(f"{length:,} of 4,000 characters, 0 left")
    save(memory_page)
    expect(memory_page.locator("#status")).to_contain_text("Saved.")
    reply = cast.owner.program.get("/v1/memory/block").get_json()
    assert (reply["text"], reply["characters"]) == (text, length)
    draft(memory_page).fill(text + "\U0001f600")
    expect(memory_page.locator("#usage")).to_contain_text(f"{length + 1:,} of 4,000 characters, 1 too many")
    save(memory_page)
    expect(memory_page.locator("#problem")).to_contain_text(f"The text has {length + 1:,} characters")


def test_line_breaks_of_a_form_add_nothing(plain_memory_page: Page, cast: Cast) -> None:
    """A form sends CR LF; 4,000 characters stay 4,000, by REST as by the page, and saving again changes nothing."""
    text = "\n".join(["x" * 39] * 99 + ["x" * 40])
    draft(plain_memory_page).fill(text)
    save(plain_memory_page)
    expect(plain_memory_page.locator("#status")).to_contain_text("Saved.")
    reply = cast.owner.program.get("/v1/memory/block").get_json()
    assert (reply["text"], reply["characters"]) == (text, 4_000)
    assert cast.owner.program.write(text).status_code == 200
    plain_memory_page.reload()
    expect(draft(plain_memory_page)).to_have_value(text)
    save(plain_memory_page)
    expect(plain_memory_page.locator("#status")).to_contain_text("Nothing to save")
    expect(plain_memory_page.locator(".change")).to_have_count(1)


def test_what_a_model_dropped_is_seen_with_sizes_name_and_time(memory_page: Page, cast: Cast) -> None:
    """A rewrite that falls from 3,980 to 3,000 characters is not silent."""
    lines = [f"P{number:02} " + "a" * 94 for number in range(1, 41)]
    lines[0] += "a" * (3_980 - len("\n".join(lines)))
    kept = [line[:72] for line in lines if line[:3] not in ("P07", "P31")]
    kept[0] += "b" * (3_000 - len("\n".join(kept)))
    assert cast.owner.assistant.write("\n".join(lines)).status_code == 200
    assert cast.owner.assistant.write("y" * 4_300).status_code == 422
    assert cast.owner.assistant.put("/v1/memory/block", {}).status_code == 422
    assert cast.owner.assistant.write("\n".join(kept)).status_code == 200
    memory_page.reload()
    change = memory_page.locator(".change").first
    expect(change.locator(".change-head")).to_contain_text("Demo assistant")
    expect(change.locator(".change-head time")).to_have_text("just now")
    expect(change).to_contain_text("From 3,980 → to 3,000 characters")
    change.locator("summary").first.click()
    for number in ("P07", "P31"):
        expect(change.locator(".is-removed", has_text=number)).to_be_visible()


def test_a_refused_line_is_marked_and_reached(memory_page: Page, cast: Cast) -> None:
    tag = cast.owner.world.services.tags.tag(cast.owner.identity.org_id, cast.owner.user_id)
    draft(memory_page).fill(f"First.\nNow {tag} and on.")
    save(memory_page)
    expect(memory_page.locator("#refused-lines mark")).to_have_text(tag)
    memory_page.get_by_role("link", name="Go to line 2").click()
    expect(draft(memory_page)).to_be_focused()
    selected = draft(memory_page).evaluate("e => e.value.slice(e.selectionStart, e.selectionEnd)")
    assert selected == f"Now {tag} and on."


def test_older_changes_are_a_page_further(memory_page: Page, cast: Cast) -> None:
    for number in range(12):
        cast.owner.assistant.write(f"State {number}.")
    memory_page.goto(MEMORY)
    expect(memory_page.locator(".change")).to_have_count(10)
    memory_page.get_by_role("link", name="Older changes").click()
    expect(memory_page.locator(".change")).to_have_count(2)
    expect(memory_page.locator(".change").last).to_contain_text("State 0.")
    expect(memory_page.get_by_role("link", name="Older changes")).to_have_count(0)
    draft(memory_page).fill("By me.")
    save(memory_page)
    expect(memory_page.locator(".change")).to_have_count(10)
    assert memory_page.url == MEMORY
