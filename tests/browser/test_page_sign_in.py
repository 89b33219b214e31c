"""Coming in and going out by the pages, the look that is kept, and the policy that guards every page."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import ADDRESS, MEMORY, NewContext, Watch, draft, is_same_load, remember_this_load, sign_in
from tests.cast import Cast

pytestmark = pytest.mark.browser

WITH_AND_WITHOUT_SCRIPT = pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])


@WITH_AND_WITHOUT_SCRIPT
def test_signing_in_leads_to_the_page_that_was_wanted(new_context: NewContext, script: bool) -> None:
    page = new_context(java_script_enabled=script).new_page()
    sign_in(page, wanted="/settings/memory/clear")
    expect(page.get_by_role("heading", level=1)).to_have_text("Clear everything?")
    expect(page.locator(".org")).to_have_text("Acme")
    expect(page.locator(".navigation a")).to_have_text(["Memory"])


def test_a_wrong_short_name_is_said_and_can_be_mended_on_the_spot(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(f"{ADDRESS}/login")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.locator("#problem")).to_contain_text("Enter your company")
    page.get_by_label("Your company’s short name").fill("nobody")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.locator("#problem")).to_be_focused()
    expect(page.get_by_label("Your company’s short name")).to_have_value("nobody")
    page.get_by_label("Your company’s short name").fill("birch")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sara Haddad").click()
    page.wait_for_url(MEMORY)
    expect(page.locator(".org")).to_have_text("Birch")


def test_declining_at_the_provider_is_explained_and_can_be_tried_again(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(f"{ADDRESS}/")
    page.get_by_role("link", name="Sign in to Acme").click()
    page.get_by_role("button", name="Do not sign in").click()
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_signing_out_ends_the_session_and_says_so(memory_page: Page) -> None:
    memory_page.get_by_role("button", name="Sign out").click()
    expect(memory_page.locator("#status")).to_have_text("You are signed out.")
    memory_page.goto(MEMORY)
    expect(memory_page.get_by_role("heading", level=1)).to_have_text("Sign in")


@WITH_AND_WITHOUT_SCRIPT
def test_the_chosen_look_sticks(new_context: NewContext, script: bool) -> None:
    page = new_context(java_script_enabled=script, color_scheme="light").new_page()
    sign_in(page)
    paper = "e => getComputedStyle(e).backgroundColor"
    root = page.locator("html")
    light = root.evaluate(paper)
    page.get_by_role("button", name="Dark").click()
    expect(root).to_have_attribute("data-theme", "dark")
    assert root.evaluate(paper) != light
    page.goto(f"{ADDRESS}/")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    assert page.url == f"{ADDRESS}/"
    page.get_by_role("button", name="System").click()
    expect(root).to_have_attribute("data-theme", "system")
    assert root.evaluate(paper) == light


def test_choosing_a_look_leaves_what_is_typed(memory_page: Page) -> None:
    remember_this_load(memory_page)
    draft(memory_page).fill("Typed.")
    memory_page.get_by_role("button", name="Dark").click()
    expect(memory_page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(draft(memory_page)).to_have_value("Typed.")
    assert is_same_load(memory_page)


def test_a_look_chosen_on_the_answer_to_a_form_leads_to_a_page(plain_memory_page: Page, cast: Cast) -> None:
    cast.owner.assistant.write("One.\nTwo.")
    cast.owner.assistant.write("One.")
    plain_memory_page.reload()
    cast.owner.program.write("Two.")
    cast.owner.program.write("One.")
    plain_memory_page.get_by_role("button", name="Take back").click()
    expect(plain_memory_page.locator("#status .is-problem")).to_contain_text("That line is no longer kept")
    plain_memory_page.get_by_role("button", name="Dark").click()
    expect(plain_memory_page.get_by_role("heading", level=1)).to_have_text("Memory")
    expect(plain_memory_page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_page_that_is_not_there_says_so_and_leads_back(memory_page: Page) -> None:
    reply = memory_page.goto(f"{ADDRESS}/nothing/here")
    assert reply is not None
    assert reply.status == 404
    expect(memory_page.get_by_role("heading", level=1)).to_have_text("Not found")
    memory_page.get_by_role("link", name="Open your memory").click()
    expect(memory_page.get_by_role("heading", level=1)).to_have_text("Memory")


@pytest.mark.parametrize(
    ("what", "script"),
    [
        ("script", "document.head.append(Object.assign(document.createElement('script'), {textContent: '1'}))"),
        ("style", "document.body.setAttribute('style', 'color: red')"),
        ("image", "document.body.append(Object.assign(new Image(), {src: 'https://elsewhere.example/x.png'}))"),
    ],
)
def test_what_the_policy_refuses_would_fail_a_test(memory_page: Page, watch: Watch, what: str, script: str) -> None:
    """The watch sees a violation when there is one, so that its silence in all other tests means something."""
    memory_page.evaluate(f"() => {{ {script}; }}")
    memory_page.wait_for_timeout(200)
    assert any(what in complaint for complaint in watch.complaints), watch.complaints
    watch.forgive("Content Security Policy")


def test_an_exception_of_a_script_would_fail_a_test(memory_page: Page, watch: Watch) -> None:
    memory_page.evaluate("() => { setTimeout(() => { throw new Error('on purpose'); }); }")
    memory_page.wait_for_timeout(200)
    watch.forgive("on purpose")
