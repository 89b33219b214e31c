"""Headers of every reply: what browsers may do with it, and that no cache keeps what is personal."""

import pytest
from test_guards import routes_of
from werkzeug.wrappers import Response

from tests.cast import Cast
from tests.world import World

STATIC = ["/static/keepline.css", "/static/favicon.svg", "/static/keepline.js"]
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def assert_secured(reply: Response) -> None:
    assert {name: reply.headers.getlist(name) for name in ALWAYS} == {name: [value] for name, value in ALWAYS.items()}
    assert reply.headers["X-Request-Id"]
    [policy] = reply.headers.getlist("Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    if reply.mimetype == "text/html":
        assert "script-src 'self';" in policy
        assert "base-uri 'none'" in policy
        assert "form-action 'self'" in policy
        assert reply.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    else:
        assert "script-src" not in policy


def test_every_route_s_reply_is_secured_and_kept_by_no_cache(world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    for method, address, _ in routes_of(world.app):
        if address.startswith(("/static/", "/.well-known/")):
            continue
        for client in (browser, world.app.test_client()):
            reply = client.open(address, method=method)
            assert_secured(reply)
            assert reply.headers["Cache-Control"] == "private, no-store", (method, address)


@pytest.mark.parametrize(
    "path", ["/nowhere", "/v1/nowhere", "/static/nowhere.css", "/v1/memory/block", "/static/../app.py"]
)
def test_errors_are_secured_too(path: str, world: World) -> None:
    assert_secured(world.app.test_client().get(path))


@pytest.mark.parametrize("path", STATIC)
def test_static_files_set_no_cookie_and_hold_nothing_of_anybody(path: str, cast: Cast) -> None:
    browser = cast.owner.browser()
    with browser.get(path) as reply:
        assert reply.status_code == 200
        assert "Set-Cookie" not in reply.headers
        assert reply.headers["Cache-Control"] == "public, no-cache"
        assert_secured(reply)
    with browser.get(path, headers={"If-None-Match": reply.headers["ETag"]}) as again:
        assert again.status_code == 304


def test_whatever_sets_a_cookie_is_not_publicly_cacheable(world: World, cast: Cast) -> None:
    browser = world.app.test_client()
    replies = [
        browser.get("/login/start?org=acme"),
        browser.get(cast.owner.answer_of_provider(browser, "acme")),
        browser.post("/theme", data={"theme": "dark"}),
    ]
    for reply in replies:
        assert "Set-Cookie" in reply.headers
        assert reply.headers["Cache-Control"] == "private, no-store"


def test_reading_pages_and_calls_sets_no_cookie(cast: Cast) -> None:
    browser = cast.owner.browser()
    for path in ("/", "/login", "/settings/memory", "/v1/memory/block", "/v1/prompt", "/v1/openapi.json", "/healthz"):
        assert "Set-Cookie" not in browser.get(path).headers


def test_only_the_sign_in_pages_may_send_forms_elsewhere(world: World, cast: Cast) -> None:
    assert "form-action 'self';" in cast.owner.browser().get("/settings/memory").headers["Content-Security-Policy"]
    assert "form-action 'self' https:" in world.app.test_client().get("/login").headers["Content-Security-Policy"]


def test_plain_loopback_demands_no_tls(world: World) -> None:
    assert "Strict-Transport-Security" not in world.app.test_client().get("/").headers
