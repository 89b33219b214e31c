"""What interrupts people: a session that ended elsewhere, a server or database that is away, leaving too early."""

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.browser.driving import ADDRESS, MEMORY, NewContext, Site, Watch, draft, save, sign_in
from tests.cast import Cast

pytestmark = pytest.mark.browser

TYPED = "Typed before it happened.\nSecond line."


def sign_out_in_another_tab(page: Page) -> Page:
    other = page.context.new_page()
    other.goto(MEMORY)
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_text("You are signed out.")).to_be_visible()
    return other


def stored(cast: Cast) -> str | None:
    text: str | None = cast.owner.program.get("/v1/memory/block").get_json()["text"]
    return text


def test_signed_out_elsewhere_the_text_stays_and_is_saved_after_signing_in(memory_page: Page, cast: Cast) -> None:
    draft(memory_page).fill(TYPED)
    other = sign_out_in_another_tab(memory_page)
    save(memory_page)
    expect(memory_page.locator("#status .is-problem")).to_contain_text("You are signed out, so nothing was saved.")
    expect(draft(memory_page)).to_have_value(TYPED)
    assert stored(cast) != TYPED
    with memory_page.context.expect_page() as opened:
        memory_page.get_by_role("link", name="Sign in in a new tab").click()
    expect(opened.value.get_by_label("Your company’s short name")).to_be_visible()
    sign_in(other)
    save(memory_page)
    expect(memory_page.locator("#status")).to_contain_text("Saved. 2 lines added.")
    assert stored(cast) == TYPED


def test_signed_out_elsewhere_without_javascript_the_text_is_on_the_error_page(
    plain_memory_page: Page, cast: Cast
) -> None:
    draft(plain_memory_page).fill(TYPED)
    sign_out_in_another_tab(plain_memory_page)
    save(plain_memory_page)
    expect(plain_memory_page.get_by_role("heading", level=1)).to_have_text("Sign in first")
    expect(plain_memory_page.get_by_role("textbox", name="What you sent")).to_have_value(TYPED)
    expect(plain_memory_page.get_by_role("link", name="Sign in")).to_be_visible()
    assert stored(cast) != TYPED


def test_signed_in_again_elsewhere_a_save_goes_through_at_once(memory_page: Page, cast: Cast) -> None:
    draft(memory_page).fill(TYPED)
    sign_in(sign_out_in_another_tab(memory_page))
    save(memory_page)
    expect(memory_page.locator("#status")).to_contain_text("Saved. 2 lines added.")
    assert stored(cast) == TYPED


def test_when_someone_else_signed_in_elsewhere_nothing_goes_into_their_memory(memory_page: Page, cast: Cast) -> None:
    draft(memory_page).fill(TYPED)
    sign_in(sign_out_in_another_tab(memory_page), "colleague")
    for _ in range(2):
        save(memory_page)
        expect(memory_page.locator("#status .is-problem")).to_contain_text("Someone else is signed in now")
    expect(draft(memory_page)).to_have_value(TYPED)
    assert cast.teammate.program.get("/v1/memory/block").get_json()["text"] != TYPED


def test_while_the_server_is_down_the_text_stays_and_is_saved_afterwards(
    memory_page: Page, cast: Cast, site: Site, watch: Watch
) -> None:
    draft(memory_page).fill(TYPED)
    with site.down():
        save(memory_page)
        expect(memory_page.locator("#status .is-problem")).to_contain_text("Keepline did not answer")
        expect(draft(memory_page)).to_have_value(TYPED)
    watch.forgive("net::ERR_CONNECTION_REFUSED")
    save(memory_page)
    expect(memory_page.locator("#status")).to_contain_text("Saved. 2 lines added.")
    assert stored(cast) == TYPED


def test_while_the_database_is_away_the_text_stays(memory_page: Page, cast: Cast, site: Site) -> None:
    draft(memory_page).fill(TYPED)
    with site.database_away():
        save(memory_page)
        expect(memory_page.locator("#status .is-problem")).to_contain_text("The database does not answer")
        expect(draft(memory_page)).to_have_value(TYPED)
    save(memory_page)
    expect(memory_page.locator("#status")).to_contain_text("Saved. 2 lines added.")
    assert stored(cast) == TYPED


def test_while_the_database_is_away_pages_say_so_and_keep_what_was_sent(plain_memory_page: Page, site: Site) -> None:
    draft(plain_memory_page).fill(TYPED)
    with site.database_away():
        save(plain_memory_page)
        expect(plain_memory_page.get_by_role("heading", level=1)).to_have_text("The database does not answer")
        expect(plain_memory_page.get_by_role("textbox", name="What you sent")).to_have_value(TYPED)
        reply = plain_memory_page.goto(MEMORY)
        assert reply is not None
        assert reply.status == 503
        expect(plain_memory_page.get_by_role("heading", level=1)).to_have_text("The database does not answer")


def test_leaving_with_unsaved_text_is_warned_of_and_without_is_not(memory_page: Page) -> None:
    dialogs: list[str] = []

    def stay(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        dialog.dismiss()

    memory_page.on("dialog", stay)
    draft(memory_page).press_sequentially("Half a li")
    memory_page.locator(".brand a").click(no_wait_after=True)
    expect(draft(memory_page)).to_have_value("Half a li")
    memory_page.wait_for_timeout(200)
    assert dialogs == ["beforeunload"]
    assert memory_page.url == MEMORY
    save(memory_page)
    expect(memory_page.locator("#status")).to_contain_text("Saved.")
    memory_page.locator(".brand a").click()
    memory_page.wait_for_url(f"{ADDRESS}/")
    assert dialogs == ["beforeunload"]


def test_a_form_from_another_site_does_nothing_and_its_text_is_not_shown(
    new_context: NewContext, cast: Cast, watch: Watch
) -> None:
    page = new_context(java_script_enabled=False).new_page()
    sign_in(page)
    page.route(
        "http://elsewhere.example/",
        lambda route: route.fulfill(
            content_type="text/html",
            body=f'<form method="post" action="{MEMORY}"><input name="text" value="Call us"><button>Go</button></form>',
        ),
    )
    page.goto("http://elsewhere.example/")
    page.get_by_role("button").click()
    page.wait_for_url(f"{MEMORY}")
    expect(page.locator("#kept-text")).to_have_count(0)
    expect(page.get_by_text("Call us")).to_have_count(0)
    assert stored(cast) != "Call us"
    assert watch.complaints == []
