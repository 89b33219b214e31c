"""The page of sign-ins: which browsers, signing out one of them, and everywhere."""

import pytest
from playwright.sync_api import expect

from tests.browser.driving import ADDRESS, MEMORY, NewContext, sign_in
from tests.cast import Cast

pytestmark = pytest.mark.browser

SESSIONS = f"{ADDRESS}/settings/sessions"
WITH_AND_WITHOUT_SCRIPT = pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])


@WITH_AND_WITHOUT_SCRIPT
def test_another_browser_is_signed_out_from_this_one(new_context: NewContext, script: bool) -> None:
    here = new_context(java_script_enabled=script).new_page()
    there = new_context(java_script_enabled=script).new_page()
    sign_in(there)
    sign_in(here)
    here.get_by_role("link", name="Sign-ins").click()
    expect(here.get_by_role("heading", level=1)).to_have_text("Sign-ins")
    expect(here.get_by_role("link", name="Sign-ins")).to_have_attribute("aria-current", "page")
    expect(here.locator("#sessions tbody tr")).to_have_count(2)
    expect(here.get_by_text("This browser", exact=True)).to_have_count(1)
    other = here.locator("#sessions tbody tr:not(#this-session)")
    expect(other.locator("time")).to_have_count(2)
    other.get_by_role("button", name="Sign out").click()
    expect(here.locator("#status")).to_have_text("That browser is signed out.")
    expect(here.locator("#sessions tbody tr")).to_have_count(1)
    there.goto(MEMORY)
    expect(there.get_by_role("heading", level=1)).to_have_text("Sign in")
    here.goto(MEMORY)
    expect(here.get_by_role("heading", level=1)).to_have_text("Memory")


@WITH_AND_WITHOUT_SCRIPT
def test_everywhere_signs_this_browser_out_too_and_refuses_older_tokens(
    new_context: NewContext, cast: Cast, script: bool
) -> None:
    assistant = cast.owner.assistant
    assert assistant.get("/v1/prompt").status_code == 200
    here, there = (new_context(java_script_enabled=script).new_page() for _ in range(2))
    sign_in(there)
    sign_in(here, wanted="/settings/sessions")
    expect(here.locator("#everywhere")).to_contain_text("assistants and programs need a new token")
    here.get_by_role("button", name="Sign out everywhere").click()
    expect(here.locator("#status")).to_have_text("You are signed out.")
    for page in (here, there):
        page.goto(SESSIONS)
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert assistant.get("/v1/prompt").status_code == 401


def test_this_browser_can_be_signed_out_from_the_list(new_context: NewContext) -> None:
    page = new_context().new_page()
    sign_in(page, wanted="/settings/sessions")
    page.locator("#this-session").get_by_role("button", name="Sign out here").click()
    expect(page.locator("#status")).to_have_text("You are signed out.")


def test_on_a_small_screen_the_list_is_reached_by_the_menu_and_fits(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False, viewport={"width": 360, "height": 740}).new_page()
    sign_in(page)
    page.locator("#menu > summary").click()
    page.get_by_role("link", name="Sign-ins").click()
    row = page.locator("#this-session")
    expect(row).to_contain_text("This browser")
    labels = row.locator("[data-label]").evaluate_all(
        "cells => cells.map(c => getComputedStyle(c, '::before').content)"
    )
    assert [label.split('"')[1] for label in labels] == ["Started", "Last used"]
    assert page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
