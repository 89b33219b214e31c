"""How pages are for everybody: by keyboard, on a small screen, in any script, with everything named aloud."""

from typing import Any

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.browser.driving import ADDRESS, MEMORY, NewContext, draft, save, sign_in
from tests.cast import Cast
from tests.world import World

pytestmark = pytest.mark.browser

HOSTILE = "\n".join(
    (
        "<img src=x onerror=alert(1)>",
        "[go](javascript:alert(1)) [go](JaVa\tScript:alert(1))",
        "<details open ontoggle=alert(1)>",
        "![x](data:text/html,<script>alert(1)</script>)",
        "</textarea><script>alert(1)</script>",
        "{{ 7 * 7 }} &lt;b&gt;",
    )
)
HOSTILE_NAME = '"><script>alert(1)</script>'
FOCUSED = """() => {
  const element = document.activeElement, style = getComputedStyle(element);
  return { id: element.id, name: element.textContent.trim(), visible: element.matches(":focus-visible"),
           outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth) };
}"""


def tab_to(page: Page, element_id: str) -> list[dict[str, Any]]:
    """Press Tab until the element has the focus; return what had it on the way."""
    passed = []
    for _ in range(60):
        page.keyboard.press("Tab")
        passed.append(page.evaluate(FOCUSED))
        if passed[-1]["id"] == element_id:
            return passed
    raise AssertionError(f"{element_id} was not reached: {passed}")


def test_the_page_works_by_keyboard_alone_with_the_focus_always_seen(memory_page: Page, cast: Cast) -> None:
    cast.owner.assistant.write("One.\nTwo.")
    cast.owner.assistant.write("One.")
    memory_page.goto(MEMORY)
    passed = tab_to(memory_page, "text")
    assert passed[0]["name"] == "Skip to the content"
    memory_page.keyboard.press("Control+End")
    memory_page.keyboard.type("\nBy keyboard.")
    passed += tab_to(memory_page, "save-button")
    memory_page.keyboard.press("Enter")
    expect(memory_page.locator("#status")).to_contain_text("Saved. 1 line added.")
    expect(memory_page.locator("#save-button")).to_be_focused()
    passed += tab_to(memory_page, "clear-link")
    assert {"Take back", "Forget it now", "Switch memory off"} <= {place["name"] for place in passed}
    unseen = [place for place in passed if not (place["visible"] and place["outline"] >= 2)]
    assert unseen == []
    assert cast.owner.program.get("/v1/memory/block").get_json()["text"] == "One.\nBy keyboard."


def test_the_skip_link_leads_past_the_navigation(memory_page: Page) -> None:
    memory_page.keyboard.press("Tab")
    expect(memory_page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    memory_page.keyboard.press("Enter")
    memory_page.keyboard.press("Tab")
    expect(draft(memory_page)).to_be_focused()


def test_on_a_small_screen_nothing_scrolls_sideways_whatever_is_written(new_context: NewContext, cast: Cast) -> None:
    long = "Donaudampfschifffahrtsgesellschaft" * 20
    right_to_left = "يفضل الإجابات القصيرة، مع الأمر أولا"
    cast.owner.assistant.write(f"{long}\n{right_to_left}\nEnglish.")
    cast.owner.assistant.write(f"{right_to_left} 2\n{long}2")
    page = new_context(viewport={"width": 360, "height": 740}).new_page()
    sign_in(page)
    overflow = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overflow) == 0
    assert draft(page).evaluate("e => e.scrollWidth - e.clientWidth") == 0
    arabic = page.locator(".changed-lines span[dir]", has_text=right_to_left).first
    assert arabic.evaluate("e => getComputedStyle(e).direction") == "rtl"
    draft(page).fill(long * 8)
    save(page)
    expect(page.locator("#problem")).to_be_visible()
    assert page.evaluate(overflow) == 0
    for path in ("/", "/login", "/settings/memory/clear", "/nothing/here"):
        page.goto(f"{ADDRESS}{path}")
        assert page.evaluate(overflow) == 0, path


def test_on_a_small_screen_the_menu_opens_without_javascript(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False, viewport={"width": 360, "height": 740}).new_page()
    sign_in(page)
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    page.locator("#menu > summary").click()
    expect(page.get_by_role("link", name="Memory")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_hostile_words_stay_words(new_context: NewContext, cast: Cast, world: World, script: bool) -> None:
    names = {
        "users": f"id = '{cast.owner.user_id}'",
        "orgs": "slug = 'acme'",
        "clients": f"client_id = 'demo-assistant' AND org_id = '{cast.owner.identity.org_id}'",
    }
    before = {table: world.rows(f"SELECT name FROM app.{table} WHERE {which}")[0][0] for table, which in names.items()}
    page = new_context(java_script_enabled=script).new_page()
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    sign_in(page)
    cast.owner.assistant.write("Kept.\n" + HOSTILE)
    cast.owner.assistant.write("Kept.")
    try:
        with world.superuser() as connection:
            for table, which in names.items():
                connection.execute(f"UPDATE app.{table} SET name = %s WHERE {which}", (HOSTILE_NAME,))
        page.goto(MEMORY)
        for name in (page.locator(".org"), page.locator(".person-name"), page.locator("#updated bdi")):
            expect(name).to_have_text(HOSTILE_NAME)
        expect(page.locator(".change-head b").first).to_have_text(HOSTILE_NAME)
        draft(page).fill(HOSTILE)
        cast.owner.assistant.write("Kept.\nChanged.")
        save(page)
        expect(page.locator("#only-yours li")).to_have_text(HOSTILE.split("\n"))
        expect(draft(page)).to_have_value(HOSTILE)
        page.get_by_role("button", name="Save anyway").click()
        expect(page.locator("#status")).to_contain_text("Saved.")
        for line in HOSTILE.split("\n"):
            expect(page.locator(".change").first.get_by_text(line, exact=True)).to_be_visible()
        assert [tag for tag in page.locator("script").all() if tag.get_attribute("type") != "module"] == []
        assert page.locator("main :is(img, script, iframe, [onerror], [ontoggle])").count() == 0
        links = [link.get_attribute("href") or "" for link in page.locator("a").all()]
        assert all(link.startswith(("/", "#")) for link in links), links
        assert dialogs == []
    finally:
        with world.superuser() as connection:
            for table, which in names.items():
                connection.execute(f"UPDATE app.{table} SET name = %s WHERE {which}", (before[table],))


NEEDS_NAME = {"button", "link", "textbox", "DisclosureTriangle", "meter", "checkbox", "combobox", "navigation"}


@pytest.mark.parametrize("state", ["start", "login", "memory", "conflict", "off", "clear", "missing"])
def test_every_control_has_a_name_and_every_page_its_landmarks(new_context: NewContext, cast: Cast, state: str) -> None:
    page = new_context().new_page()
    if state not in ("start", "login"):
        cast.owner.assistant.write("One.\nTwo.")
        cast.owner.assistant.write("One.")
        sign_in(page)
    if state == "conflict":
        draft(page).fill("Mine.")
        cast.owner.assistant.write("Theirs.")
        save(page)
        expect(page.locator("#problem")).to_be_visible()
    elif state == "off":
        page.get_by_role("button", name="Switch memory off").click()
        expect(page.locator("#memory-off")).to_be_visible()
    else:
        page.goto(ADDRESS + {"start": "/", "login": "/login", "clear": "/settings/memory/clear"}.get(state, "/x"))
        if state == "memory":
            page.goto(MEMORY)
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    nodes = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node["ignored"]]
    roles = [role for role, _ in nodes]
    assert [role for role, name in nodes if role in NEEDS_NAME and not name.strip()] == []
    assert "button" in roles
    assert (roles.count("main"), roles.count("banner"), roles.count("contentinfo")) == (1, 1, 1)
    assert page.locator("h1").count() == 1
    expect(page.locator("html")).to_have_attribute("lang", "en")
    identifiers = page.evaluate("() => [...document.querySelectorAll('[id]')].map((element) => element.id)")
    assert len(identifiers) == len(set(identifiers))
