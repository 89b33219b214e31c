"""Requests that another site makes a browser send: refused, and nothing is changed."""

import pytest
from flask.testing import FlaskClient
from test_guards import routes_of

from tenancy.guards import CSRF_HEADER, Door
from tests.cast import Cast, csrf_token_of
from tests.world import WEB_PORT, World

MEMORY = "/settings/memory"
BLOCK = "/v1/memory/block"
OURS = f"http://127.0.0.1:{WEB_PORT}"
FORM = {"text": "forged", "seen": "", "confirm": "clear", "on": "0", "theme": "dark"}


@pytest.fixture
def browser(cast: Cast) -> FlaskClient:
    """The owner's browser, with one line remembered."""
    cast.owner.assistant.write("stays")
    return cast.owner.browser()


def token_of(browser: FlaskClient) -> str:
    return csrf_token_of(browser.get(MEMORY).text)


def nothing_changed(world: World, browser: FlaskClient) -> bool:
    stored = world.rows("SELECT text FROM app.blocks") == [("stays",)]
    on = world.rows("SELECT count(*) FROM app.users WHERE NOT memory_on") == [(0,)]
    return stored and on and browser.get(MEMORY).status_code == 200


@pytest.mark.parametrize("token", [None, "", "wrong", "\u00e9", "0" * 64])
def test_every_form_needs_its_token(token: str | None, world: World, cast: Cast, browser: FlaskClient) -> None:
    other = token_of(cast.teammate.browser())
    posts = [address for method, address, _ in routes_of(world.app, Door.PAGE) if method == "POST"]
    assert len(posts) >= 6
    for address in posts:
        for given in (token, other):
            fields = {**FORM, **({"csrf_token": given} if given is not None else {})}
            reply = browser.post(address, data=fields)
            assert reply.status_code == 403, address
            assert "nothing was done" in reply.text
    assert nothing_changed(world, browser)


def test_a_token_in_the_address_is_none(world: World, browser: FlaskClient) -> None:
    reply = browser.post(f"{MEMORY}/switch?csrf_token={token_of(browser)}", data={"on": "0"})
    assert reply.status_code == 403
    assert nothing_changed(world, browser)


def test_a_token_of_an_earlier_sign_in_is_refused(world: World, cast: Cast, browser: FlaskClient) -> None:
    earlier = token_of(browser)
    browser.get(cast.owner.answer_of_provider(browser, "acme"))
    assert browser.post(f"{MEMORY}/switch", data={"on": "0", "csrf_token": earlier}).status_code == 403
    assert nothing_changed(world, browser)


FOREIGN = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://[broken"},
    {"Origin": f"{OURS}.evil.example"},
    {"Origin": f"http://evil.example@127.0.0.1:{WEB_PORT}"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": f"ftp://127.0.0.1:{WEB_PORT}"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_what_the_browser_says_comes_from_elsewhere_is_refused_even_with_the_token(
    headers: dict[str, str], world: World, browser: FlaskClient
) -> None:
    token = token_of(browser)
    form = browser.post(f"{MEMORY}/switch", data={"on": "0", "csrf_token": token}, headers=headers)
    call = browser.delete(BLOCK, headers={CSRF_HEADER: token, **headers})
    look = browser.post("/theme", data={"theme": "dark"}, headers=headers)
    assert [reply.status_code for reply in (form, call, look)] == [403, 403, 403]
    assert call.get_json()["code"] == "cross_site"
    assert "Set-Cookie" not in look.headers
    assert nothing_changed(world, browser)


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "same-origin", "Origin": OURS}, {"Sec-Fetch-Site": "none"}, {}])
def test_our_own_pages_are_served(headers: dict[str, str], browser: FlaskClient) -> None:
    token = token_of(browser)
    assert browser.post(f"{MEMORY}/switch", data={"on": "1", "csrf_token": token}, headers=headers).status_code == 303


def test_a_call_by_session_needs_the_header_for_what_is_not_safe(world: World, browser: FlaskClient) -> None:
    unsafe = [(method, address) for method, address, _ in routes_of(world.app, Door.API) if method != "GET"]
    for method, address in unsafe:
        for headers in ({}, {CSRF_HEADER: "wrong"}, {CSRF_HEADER: ""}):
            reply = browser.open(address, method=method, json={"text": "forged", "on": False}, headers=headers)
            assert (reply.status_code, reply.get_json()["code"]) == (403, "cross_site"), (method, address)
    as_form = browser.put(BLOCK, data={"text": "forged", "csrf_token": token_of(browser)})
    assert as_form.status_code == 403
    assert nothing_changed(world, browser)
    headers = {CSRF_HEADER: token_of(browser)}
    assert browser.put(BLOCK, json={"text": "by the page's script"}, headers=headers).status_code == 200
    assert browser.get(BLOCK).get_json()["updated_by"] == {"writer": "user", "client": "web"}


def test_a_program_with_a_token_of_its_own_needs_no_header(cast: Cast) -> None:
    assert cast.owner.program.write("by a program").status_code == 200


def test_nothing_is_done_by_a_get(world: World, browser: FlaskClient) -> None:
    for method, address, _ in routes_of(world.app, Door.PAGE):
        if method == "POST":
            browser.get(address, query_string={**FORM, "csrf_token": token_of(browser)})
    assert nothing_changed(world, browser)
