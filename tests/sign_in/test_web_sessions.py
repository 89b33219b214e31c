"""A web session: its cookies, its ends by idleness and by age, and what is kept of it."""

import pytest
from flask.testing import FlaskClient

from tests.cast import Cast
from tests.world import WEB_PORT, World

MEMORY = "/settings/memory"


def attributes_of(header: str) -> tuple[str, set[str]]:
    name, *rest = header.split("; ")
    return name.split("=", 1)[0], {part.split("=")[0].lower() for part in rest} | {part.lower() for part in rest}


def cookies_of_sign_in(world: World, cast: Cast) -> dict[str, set[str]]:
    browser = world.app.test_client()
    begun = browser.get("/login/start?org=acme")
    finished = browser.get(cast.owner.answer_of_provider(browser, "acme"))
    return dict(attributes_of(header) for reply in (begun, finished) for header in reply.headers.getlist("Set-Cookie"))


def test_cookies_are_for_this_site_alone_and_out_of_reach_of_scripts(world: World, cast: Cast) -> None:
    cookies = cookies_of_sign_in(world, cast)
    assert set(cookies) == {f"keepline_{WEB_PORT}", f"keepline_{WEB_PORT}_sign_in"}
    for attributes in cookies.values():
        assert {"httponly", "samesite=lax", "path=/"} <= attributes
        assert "domain" not in attributes
        assert "secure" not in attributes  # served on plain loopback, where it would be dropped


def test_on_tls_cookies_have_the_host_prefix_and_are_secure(world: World) -> None:
    with world.another_app(KEEPLINE_PUBLIC_URL="https://memory.example.com") as app:
        reply = app.test_client().get("/login/start?org=acme", base_url="https://memory.example.com")
        assert reply.status_code == 302
        name, attributes = attributes_of(reply.headers["Set-Cookie"])
        assert name == "__Host-keepline_sign_in"
        assert {"secure", "httponly", "samesite=lax", "path=/"} <= attributes
        assert "domain" not in attributes
        assert reply.headers["Strict-Transport-Security"].startswith("max-age=")


def test_the_session_cookie_on_tls_is_the_prefixed_one(world: World, cast: Cast) -> None:
    plain = cast.owner.browser()
    secret = plain.get_cookie(f"keepline_{WEB_PORT}", "127.0.0.1")
    assert secret is not None
    with world.another_app(KEEPLINE_PUBLIC_URL="https://memory.example.com") as app:
        browser = app.test_client()
        browser.set_cookie("__Host-keepline", secret.value, domain="memory.example.com", secure=True)
        assert browser.get(MEMORY, base_url="https://memory.example.com").status_code == 200
        other = app.test_client()
        other.set_cookie(f"keepline_{WEB_PORT}", secret.value, domain="memory.example.com")
        assert other.get(MEMORY, base_url="https://memory.example.com").status_code == 302


@pytest.mark.parametrize(
    ("column", "age", "alive"),
    [
        ("last_seen_at", "7 hours 59 minutes", True),
        ("last_seen_at", "8 hours", False),
        ("created_at", "6 days 23 hours 59 minutes", True),
        ("created_at", "7 days", False),
    ],
)
def test_a_session_ends_after_8_idle_hours_or_7_days(
    column: str, age: str, alive: bool, world: World, cast: Cast
) -> None:
    browser = cast.owner.browser()
    grow_older(world, column, age)
    assert (browser.get(MEMORY).status_code == 200) is alive
    assert (browser.get("/v1/memory/block").status_code == 200) is alive


def test_use_keeps_a_session_from_going_idle_but_not_from_its_age(world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    for _ in range(2):
        grow_older(world, "last_seen_at", "7 hours")
        assert browser.get(MEMORY).status_code == 200
    [(idle,)] = world.rows("SELECT extract(epoch FROM clock_timestamp() - last_seen_at) FROM app.web_sessions")
    assert idle < 60
    grow_older(world, "created_at", "7 days")
    assert browser.get(MEMORY).status_code == 302


def test_the_database_does_not_hold_the_secret_of_a_session(world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    secret = browser.get_cookie(f"keepline_{WEB_PORT}", "127.0.0.1")
    assert secret is not None
    [(kept,)] = world.rows("SELECT web_sessions::text FROM app.web_sessions")
    assert secret.value not in kept
    assert secret.value.encode().hex() not in kept


@pytest.mark.parametrize("value", ["", "made-up", "\u00e9", "x" * 5_000, '"quoted"'])
def test_a_made_up_cookie_is_nobody(value: str, world: World) -> None:
    browser = world.app.test_client()
    assert get_with_cookie(browser, value) == 302


def get_with_cookie(browser: FlaskClient, value: str) -> int:
    headers = {"Cookie": f"keepline_{WEB_PORT}={value}"}
    return int(browser.get(MEMORY, headers=headers).status_code)


def grow_older(world: World, column: str, age: str) -> None:
    with world.superuser() as connection:
        connection.execute(f"UPDATE app.web_sessions SET {column} = {column} - %s::interval", (age,))


@pytest.mark.parametrize("cookie", ["remember_token", "session"])
def test_a_cookie_that_flask_login_or_flask_would_take_is_nobody(world: World, cast: Cast, cookie: str) -> None:
    """Neither is used: a session is a row, and dead as soon as the row is gone."""
    assert cast.owner.browser().get("/settings/memory").status_code == 200
    browser = world.app.test_client()
    for value in (str(cast.owner.user_id), f"{cast.owner.user_id}|{'0' * 128}", "eyJfdXNlcl9pZCI6IjEifQ.x.y"):
        browser.set_cookie(cookie, value, domain="127.0.0.1")
        assert browser.get("/settings/memory").status_code == 302
