"""Times on pages: in the reader's own zone, in words under a week, exact in the markup."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import MEMORY, NewContext, draft, save, sign_in
from tests.world import World

pytestmark = pytest.mark.browser


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def save_at(page: Page, world: World, moment: str, text: str) -> None:
    world.move_clock(at(moment) - datetime.now(UTC))
    draft(page).fill(text)
    save(page)
    expect(page.locator("#status")).to_contain_text("Saved.")
    draft(page).press("End")


@pytest.mark.parametrize(
    ("zone", "written", "looked_at", "words", "exact"),
    [
        ("Asia/Kolkata", "2026-09-15T20:10:00", "2026-10-20T06:00:00", "16 September 2026, 01:40", "GMT+5:30"),
        ("Australia/Brisbane", "2026-07-31T15:05:00", "2026-07-31T23:00:00", "today, 01:05", "GMT+10"),
        ("America/New_York", "2026-03-08T06:30:00", "2026-03-09T05:00:00", "yesterday, 01:30", "GMT-5"),
    ],
)
def test_times_are_the_readers_own(
    new_context: NewContext, world: World, zone: str, written: str, looked_at: str, words: str, exact: str
) -> None:
    page = new_context(timezone_id=zone).new_page()
    sign_in(page)
    save_at(page, world, written, "One.")
    page.clock.set_fixed_time(at(looked_at))
    page.goto(MEMORY)
    for time in (page.locator(".change time").first, page.locator("#updated time")):
        expect(time).to_have_text(words)
        title = time.get_attribute("title")
        assert title is not None
        assert title.endswith(exact), title
        assert (time.get_attribute("datetime") or "").startswith(written[:16])
        assert (time.get_attribute("datetime") or "").endswith("Z")


def test_times_without_javascript_name_their_zone(plain_memory_page: Page, world: World) -> None:
    save_at(plain_memory_page, world, "2026-09-15T20:10:00", "One.")
    expect(plain_memory_page.locator(".change time").first).to_have_text("15 September 2026, 20:10 UTC")


def test_two_times_that_read_alike_when_clocks_go_back_stay_in_order(new_context: NewContext, world: World) -> None:
    page = new_context(timezone_id="America/New_York").new_page()
    sign_in(page)
    save_at(page, world, "2026-11-01T05:30:00", "One.")
    save_at(page, world, "2026-11-01T06:30:00", "One.\nTwo.")
    page.clock.set_fixed_time(at("2026-12-01T00:00:00"))
    page.goto(MEMORY)
    times = page.locator(".change-head time")
    expect(times).to_have_text(["1 November 2026, 01:30", "1 November 2026, 01:30"])
    titles = [times.nth(place).get_attribute("title") or "" for place in (0, 1)]
    assert [title[-5:] for title in titles] == ["GMT-5", "GMT-4"]
