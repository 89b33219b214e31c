"""The admin pages as an admin meets them: by keyboard and by hand, on a small screen, with and without JavaScript."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import ADDRESS, NewContext, sign_in
from tests.browser.test_page_presentation import HOSTILE_NAME, NEEDS_NAME
from tests.cast import Cast
from tests.world import World

pytestmark = pytest.mark.browser

WITH_AND_WITHOUT_SCRIPT = pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
LONG_NAME = "Donaudampfschifffahrtsgesellschaft" * 5
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(autouse=True)
def undone(world: World) -> Iterator[None]:
    """What admins decide stays for later tests, so it is put back."""
    yield
    with world.superuser() as connection:
        connection.execute("DELETE FROM app.clients WHERE client_id LIKE 'page-%'")
        connection.execute("DELETE FROM app.org_policies")
        connection.execute("UPDATE app.providers SET claim_rules = '[]'")


def admin_page(new_context: NewContext, wanted: str = "/admin", **options: object) -> Page:
    page = new_context(**options).new_page()
    sign_in(page, "admin", wanted=wanted)
    return page


def open_rules(page: Page) -> None:
    page.goto(f"{ADDRESS}/admin/identity")
    page.locator("#providers a").click()
    page.get_by_role("link", name="Edit claim rules").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Claim rules")


@WITH_AND_WITHOUT_SCRIPT
def test_a_client_is_registered_and_revoked_after_being_asked_once_more(
    new_context: NewContext, world: World, script: bool
) -> None:
    page = admin_page(new_context, java_script_enabled=script)
    page.get_by_role("link", name="Clients").click()
    page.get_by_label("Name").fill("Page assistant")
    page.get_by_label("Client id").fill("page-assistant")
    page.get_by_role("button", name="Register client").click()
    expect(page.locator("#status")).to_contain_text("The client is registered.")
    page.get_by_role("link", name="Revoke…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Revoke Page assistant?")
    stored = "SELECT revoked_at IS NULL FROM app.clients WHERE client_id = 'page-assistant'"
    assert world.rows(stored) == [(True,)]
    page.get_by_role("button", name="Revoke client").click()
    expect(page.locator("#client-facts")).to_contain_text("Revoked")
    assert world.rows(stored) == [(False,)]
    page.get_by_role("button", name="Register again").click()
    expect(page.locator("#client-facts")).not_to_contain_text("Revoked")


def test_what_does_not_fit_takes_the_focus_and_leads_to_its_field(new_context: NewContext) -> None:
    page = admin_page(new_context, "/admin/policy")
    page.get_by_label("Days that conversations are kept").fill("soon")
    page.get_by_label("Domains that memory may name").fill("wiki.example.com\nhttps://x.example/a")
    page.get_by_label("Start with memory on").uncheck()
    page.get_by_role("button", name="Save policy").click()
    expect(page.locator("#problem")).to_be_focused()
    expect(page).to_have_title(re.compile("^Not saved: "))
    expect(page.get_by_label("Start with memory on")).not_to_be_checked()
    expect(page.get_by_label("Domains that memory may name")).to_have_value("wiki.example.com\nhttps://x.example/a")
    expect(page.locator("#allowed_domains-problem")).to_contain_text("'https://x.example/a' is not a domain.")
    page.get_by_role("link", name="Days that conversations are kept").click()
    field = page.get_by_label("Days that conversations are kept")
    expect(field).to_be_focused()
    expect(field).to_have_value("soon")
    expect(field).to_have_attribute("aria-describedby", "retention-hint retention-problem")
    field.fill("30")
    page.get_by_label("Domains that memory may name").fill("wiki.example.com")
    page.get_by_role("button", name="Save policy").click()
    expect(page.locator("#status")).to_contain_text("The policy is saved")


def test_every_setting_that_nothing_uses_yet_says_so(new_context: NewContext) -> None:
    page = admin_page(new_context, "/admin/policy")
    expect(page.locator(".unused", has_text="nothing uses it yet")).to_have_count(5)
    expect(page.locator("#memory_default .unused")).to_have_count(0)


@WITH_AND_WITHOUT_SCRIPT
def test_claim_rules_are_tried_before_they_are_saved(new_context: NewContext, world: World, script: bool) -> None:
    stored = "SELECT claim_rules FROM app.providers p JOIN app.orgs o USING (org_id) WHERE o.slug = 'acme'"
    page = admin_page(new_context, java_script_enabled=script)
    open_rules(page)
    page.get_by_role("button", name="Add a rule").click()
    rule = page.get_by_role("group", name="Rule 1")
    rule.get_by_label("Claim").fill("roles")
    rule.get_by_label("Value").fill("nobody")
    rule.get_by_label("Gives").select_option(label="Admin")
    rule.get_by_label("Value").press("Enter")  # tries them, and takes no row away
    expect(page.locator("#preview")).to_contain_text('["admin"]')
    expect(page.get_by_role("group", name="Rule 1")).to_contain_text("does not match your token")
    page.get_by_role("button", name="Save rules").click()
    expect(page.locator("#problem")).to_contain_text("do not give you the role admin")
    assert world.rows(stored) == [([],)]
    page.get_by_role("button", name="Add a rule").click()
    second = page.get_by_role("group", name="Rule 2")
    second.get_by_label("Claim").fill("roles")
    second.get_by_label("Value").fill("admin")
    second.get_by_label("Gives").select_option(label="Admin")
    page.get_by_role("button", name="Remove rule 1").click()
    expect(page.get_by_label("Value")).to_have_value("admin")
    page.get_by_role("button", name="Save rules").click()
    expect(page.locator("#rules")).to_contain_text("Whoever has admin in roles is an admin.")
    assert world.rows(stored) == [([{"claim": "roles", "value": "admin", "grants": "admin", "team": ""}],)]


def test_an_admin_locks_themselves_out_only_on_purpose(new_context: NewContext, world: World) -> None:
    page = admin_page(new_context)
    open_rules(page)
    page.get_by_role("button", name="Add a rule").click()
    expect(page.get_by_label("Claim", exact=True)).to_be_focused()
    page.keyboard.type("teams")
    page.get_by_label("Gives").select_option(label="Member of a team")
    page.get_by_role("button", name="Save rules").click()
    consent = page.get_by_label("Save them even though I will no longer be an admin")
    expect(consent).not_to_be_checked()
    consent.check()
    page.get_by_role("button", name="Save rules").click()
    expect(page.locator("#status")).to_contain_text("The claim rules are saved.")
    assert world.rows("SELECT count(*) FROM app.providers WHERE claim_rules <> '[]'") == [(1,)]


@WITH_AND_WITHOUT_SCRIPT
def test_a_provider_is_tested_in_words_and_the_secret_does_not_come_back(
    new_context: NewContext, world: World, script: bool
) -> None:
    page = admin_page(new_context, "/admin/identity", java_script_enabled=script)
    expect(page.locator("#redirect-address")).to_have_text(f"{ADDRESS}/login/callback")
    expect(page.locator("#logout-address")).to_have_text(f"{ADDRESS}/logout/backchannel")
    page.get_by_label("Issuer").fill(f"{world.demo.provider_url}/birch")
    page.get_by_label("Client secret").fill("hush-hush-hush")
    page.get_by_role("button", name="Test").click()
    findings = page.locator("#findings")
    expect(findings.locator("li", has_text="Discovery document").first).to_contain_text("✓ OK")
    expect(findings).to_be_in_viewport()
    expect(page.get_by_label("Issuer")).to_have_value(f"{world.demo.provider_url}/birch")
    expect(page.get_by_label("Client secret")).to_have_value("")
    assert "hush-hush-hush" not in page.content()
    page.get_by_label("Issuer").fill("http://127.0.0.1:1/nothing")
    page.get_by_label("Issuer").press("Enter")  # tests, and connects nothing
    expect(findings.locator("li", has_text="Discovery document")).to_contain_text("✗ Not OK")


def test_connecting_what_is_connected_already_changes_nothing(new_context: NewContext, world: World) -> None:
    page = admin_page(new_context, "/admin/identity")
    before = world.rows("SELECT client_id, has_secret FROM app.providers ORDER BY id")
    page.get_by_label("Issuer").fill(f"{world.demo.provider_url}/acme")
    page.get_by_label("Audience").fill("keepline")
    page.get_by_label("Client id").fill("another")
    page.get_by_role("button", name="Connect").click()
    expect(page.locator("#problem")).to_contain_text("You have connected this issuer and audience already.")
    assert world.rows("SELECT client_id, has_secret FROM app.providers ORDER BY id") == before


def test_another_orgs_provider_is_refused_without_a_word_about_it(new_context: NewContext, world: World) -> None:
    page = admin_page(new_context, "/admin/identity")
    page.get_by_label("Issuer").fill(f"{world.demo.provider_url}/birch")
    page.get_by_label("Audience").fill("keepline")
    page.get_by_label("Client id").fill("mine")
    page.get_by_role("button", name="Connect").click()
    expect(page.locator("#problem")).to_contain_text("This issuer can't be connected here.")
    expect(page.locator("main")).not_to_contain_text("Birch")


def pages_of(cast: Cast) -> list[str]:
    """The addresses of all admin pages, of a client with a long name and of the provider that there is."""
    program = cast.admin.program
    body = {"client_id": "page-" + "x" * 190, "name": LONG_NAME, "scopes": ["memory:read", "conversations:search"]}
    client = program.put("/v1/org/clients", body).get_json()
    hostile = program.put("/v1/org/clients", {"client_id": "page-hostile", "name": HOSTILE_NAME}).get_json()
    [provider] = program.get("/v1/org/providers").get_json()["items"]
    own = [
        f"/admin/clients/{client['id']}",
        f"/admin/clients/{hostile['id']}/revoke",
        f"/admin/identity/{provider['id']}",
    ]
    deeper = [f"{own[-1]}/{name}" for name in ("rules", "sign-in", "disconnect")]
    return ["/admin", "/admin/clients", "/admin/identity", "/admin/policy", "/settings/sessions", *own, *deeper]


@pytest.mark.parametrize("width", [360, 800, 1200])
def test_nothing_scrolls_sideways_whatever_things_are_called(new_context: NewContext, cast: Cast, width: int) -> None:
    page = admin_page(new_context, viewport={"width": width, "height": 740})
    for path in pages_of(cast):
        page.goto(f"{ADDRESS}{path}")
        assert page.evaluate(OVERFLOW) <= 0, path


def test_every_control_has_a_name_and_every_page_its_landmarks(new_context: NewContext, cast: Cast) -> None:
    page = admin_page(new_context)
    session = page.context.new_cdp_session(page)
    for path in pages_of(cast):
        page.goto(f"{ADDRESS}{path}")
        if path.endswith("/rules"):
            page.get_by_role("button", name="Add a rule").click()
            expect(page.get_by_role("group", name="Rule 1")).to_be_visible()
        tree = session.send("Accessibility.getFullAXTree")["nodes"]
        nodes = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node["ignored"]]
        roles = [role for role, _ in nodes]
        assert [role for role, name in nodes if role in NEEDS_NAME and not name.strip()] == [], path
        assert (roles.count("main"), roles.count("banner"), roles.count("contentinfo")) == (1, 1, 1), path
        assert page.locator("h1").count() == 1, path
        identifiers = page.evaluate("() => [...document.querySelectorAll('[id]')].map((element) => element.id)")
        assert len(identifiers) == len(set(identifiers)), path


def test_hostile_names_stay_words(new_context: NewContext, cast: Cast) -> None:
    page = admin_page(new_context)
    pages_of(cast)
    page.goto(f"{ADDRESS}/admin/clients")
    expect(page.get_by_role("link", name=HOSTILE_NAME)).to_be_visible()
    page.get_by_role("link", name=HOSTILE_NAME).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE_NAME)
    expect(page.get_by_label("Name", exact=True)).to_have_value(HOSTILE_NAME)
    assert page.locator("main script").count() == 0
