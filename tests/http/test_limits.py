"""Rate limits: so many calls a minute a user, an org and an address; past that 429 with the time to wait."""

import logging
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from test_problems import problem
from werkzeug.test import TestResponse

from app import create_app
from demo.seed import ASSISTANT_CLIENT, USER_CLIENT
from demo.tokens import fetch_token
from tenancy.errors import SetupError
from tenancy.guards import GuardedFlask
from tenancy.settings import read_settings
from tests.cast import Cast, Person, csrf_token_of
from tests.world import WEB_PORT, PublicAddressClient, World
from web.limits import network_of
from web.shared_counters import SharedCounters

BLOCK, PAGE = "/v1/memory/block", "/settings/memory"
NAMES = ["KEEPLINE_RATE_LIMIT_USER", "KEEPLINE_RATE_LIMIT_ORG", "KEEPLINE_RATE_LIMIT_ADDRESS"]


def get(app: GuardedFlask, person: Person, client_id: str = ASSISTANT_CLIENT, path: str = BLOCK) -> TestResponse:
    return app.test_client().get(path, headers={"Authorization": f"Bearer {person.token(client_id)}"})


def browser_on(app: GuardedFlask, person: Person) -> FlaskClient:
    """A browser of another app that has the session of one that signed in."""
    cookie = person.browser().get_cookie(f"keepline_{WEB_PORT}", domain="127.0.0.1")
    assert cookie is not None
    client = app.test_client()
    client.set_cookie(cookie.key, cookie.value, domain="127.0.0.1")
    return client


def test_past_the_limit_a_call_is_answered_429_with_the_time_to_wait(world: World, cast: Cast) -> None:
    with world.another_app(KEEPLINE_RATE_LIMIT_USER="5") as app:
        assert [get(app, cast.owner).status_code for _ in range(5)] == [200] * 5
        refused = get(app, cast.owner)
        content = problem(refused, 429, "rate_limited")
        wait = int(refused.headers["Retry-After"])
        assert refused.headers["Retry-After"] == str(wait)
        assert 1 <= wait <= 60
        assert f"Try again in {wait} second" in content["detail"]
        assert refused.headers["Cache-Control"] == "private, no-store"


def test_no_credential_of_a_user_is_a_fresh_allowance(world: World, cast: Cast) -> None:
    """Another token, another client and the web session count as the one user they are."""
    with world.another_app(KEEPLINE_RATE_LIMIT_USER="4") as app:
        browser = browser_on(app, cast.owner)
        assert get(app, cast.owner).status_code == 200
        assert get(app, cast.owner, USER_CLIENT).status_code == 200
        assert browser.get(PAGE).status_code == 200
        assert browser.get(BLOCK).status_code == 200
        fresh = fetch_token(world.demo.provider_url, cast.owner.login_name, ASSISTANT_CLIENT)
        assert fresh != cast.owner.token(ASSISTANT_CLIENT)
        reply = app.test_client().get(BLOCK, headers={"Authorization": f"Bearer {fresh}"})
        assert reply.status_code == 429
        assert browser.get(PAGE).status_code == 429


def test_a_user_uses_up_nobody_else_s_calls(world: World, cast: Cast) -> None:
    with world.another_app(KEEPLINE_RATE_LIMIT_USER="3") as app:
        assert [get(app, cast.owner).status_code for _ in range(4)][-1] == 429
        for other in (cast.teammate, cast.stranger):
            assert [get(app, other).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_an_org_s_calls_are_counted_together_and_apart_from_another_org_s(world: World, cast: Cast) -> None:
    with world.another_app(KEEPLINE_RATE_LIMIT_ORG="4") as app:
        people = (cast.owner, cast.teammate, cast.outsider, cast.lead)
        assert [get(app, person).status_code for person in people] == [200] * 4
        assert [get(app, person).status_code for person in people] == [429] * 4
        assert [get(app, cast.stranger).status_code for _ in range(5)] == [200] * 4 + [429]


def test_a_user_who_is_over_the_limit_takes_nothing_of_the_org_s(world: World, cast: Cast) -> None:
    with world.another_app(KEEPLINE_RATE_LIMIT_USER="2", KEEPLINE_RATE_LIMIT_ORG="4") as app:
        assert [get(app, cast.owner).status_code for _ in range(20)] == [200] * 2 + [429] * 18
        assert [get(app, cast.teammate).status_code for _ in range(2)] == [200] * 2


def test_who_is_not_known_is_answered_401_however_many_calls_there_were(world: World, cast: Cast) -> None:
    with world.another_app(KEEPLINE_RATE_LIMIT_USER="1", KEEPLINE_RATE_LIMIT_ADDRESS="1") as app:
        for headers in ({}, {"Authorization": "Bearer x.y.z"}):
            assert {app.test_client().get(BLOCK, headers=headers).status_code for _ in range(5)} == {401}
        assert [get(app, cast.owner).status_code for _ in range(2)] == [200, 429]


def test_a_call_past_the_limit_is_refused_before_its_body_is_read_and_stores_nothing(world: World, cast: Cast) -> None:
    headers = {"Authorization": f"Bearer {cast.owner.token(ASSISTANT_CLIENT)}"}
    with world.another_app(KEEPLINE_RATE_LIMIT_USER="1") as app:
        client = app.test_client()
        assert client.put(BLOCK, json={"text": "kept"}, headers=headers).status_code == 200
        for body in (b'{"text": "lost"}', b"{", b"x" * 2_000_000):
            problem(client.put(BLOCK, data=body, content_type="application/json", headers=headers), 429, "rate_limited")
    assert world.rows("SELECT text FROM app.blocks") == [("kept",)]


def test_what_a_guard_refuses_a_known_caller_is_counted_too(world: World, cast: Cast) -> None:
    with world.another_app(KEEPLINE_RATE_LIMIT_USER="2") as app:
        headers = {"Authorization": f"Bearer {cast.owner.token(ASSISTANT_CLIENT)}"}
        replies = [app.test_client().delete(BLOCK, headers=headers) for _ in range(3)]
        assert [reply.status_code for reply in replies] == [403, 403, 429]


def test_a_page_past_the_limit_says_when_and_keeps_what_was_typed(world: World, cast: Cast) -> None:
    with world.another_app(KEEPLINE_RATE_LIMIT_USER="2") as app:
        browser = browser_on(app, cast.owner)
        token = csrf_token_of(browser.get(PAGE).text)
        assert browser.post(PAGE, data={"text": "first", "seen": "", "csrf_token": token}).status_code in (
            303,
            409,
            412,
        )
        refused = browser.post(PAGE, data={"text": "typed <b>for long</b>", "seen": "", "csrf_token": token})
        assert (refused.status_code, refused.mimetype) == (429, "text/html")
        assert f"Try again in {refused.headers['Retry-After']} second" in refused.text
        assert "typed &lt;b&gt;for long&lt;/b&gt;" in refused.text
        again = browser.get(f"{PAGE}?changes=x")
        assert again.status_code == 429
        assert f'href="{PAGE}?changes=x"' in again.text
        assert browser.get("/").status_code == 200


@pytest.mark.parametrize("path", ["/login/start?org=nobody", "/login/callback?state=x"])
def test_sign_ins_are_limited_by_address(path: str, world: World) -> None:
    with world.another_app(KEEPLINE_RATE_LIMIT_ADDRESS="3") as app:
        client = app.test_client()
        statuses = [client.get(path).status_code for _ in range(5)]
        assert 429 not in statuses[:3]
        assert statuses[3:] == [429, 429]
        refused = client.get(path)
        assert refused.mimetype == "text/html"
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        elsewhere = client.get(path, environ_overrides={"REMOTE_ADDR": "192.0.2.7"})
        assert elsewhere.status_code != 429


@pytest.mark.parametrize("proxies", ["0", "1", "2"])
def test_an_address_is_what_the_trusted_proxies_say_and_nothing_before_them(proxies: str, world: World) -> None:
    """The caller writes the front of X-Forwarded-For; each proxy appends whom it was called by."""
    with world.another_app(KEEPLINE_RATE_LIMIT_ADDRESS="2", KEEPLINE_TRUSTED_PROXIES=proxies) as app:

        def start(forwarded: str) -> int:
            return (
                app.test_client()
                .get("/login/start?org=nobody", headers={"X-Forwarded-For": forwarded, "X-Real-IP": forwarded})
                .status_code
            )

        invented = [start(f"203.0.113.{number}, 192.0.2.1, 192.0.2.2") for number in range(3)]
        assert invented[2] == 429
        other = start({"0": "192.0.2.9", "1": "192.0.2.1, 192.0.2.9", "2": "192.0.2.9, 192.0.2.2"}[proxies])
        assert other == (429 if proxies == "0" else 422)


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
        ("", "unknown"),
        (None, "unknown"),
    ],
)
def test_one_line_s_ipv6_addresses_count_as_one(address: str | None, counted: str) -> None:
    assert network_of(address) == counted


def test_health_files_and_descriptions_are_never_limited(world: World) -> None:
    with world.another_app(**dict.fromkeys(NAMES, "1")) as app:
        client = app.test_client()
        for path in (
            "/healthz", "/readyz", "/v1/openapi.json", "/.well-known/oauth-protected-resource/v1", "/", "/login",
            "/static/keepline.css",
        ):  # fmt: skip
            for _ in range(4):
                with client.get(path) as reply:
                    assert reply.status_code == 200, path


class CountersElsewhere(SharedCounters):
    """A storage on another machine: each use of it connects to a port, where somebody may listen or not."""

    STORAGE_SCHEME = ["elsewhere"]  # noqa: RUF012 - how limits finds a storage by its address

    def __init__(self, uri: str, wrap_exceptions: bool = False, **options: float | str | bool) -> None:
        super().__init__(uri, wrap_exceptions, **options)
        self.port = int(uri.rpartition(":")[2])

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        with socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return super().incr(key, expiry, amount)


def test_a_storage_that_does_not_answer_stops_nobody_and_is_logged_once(
    world: World, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        settings = replace(
            world.settings, rate_limit_storage=f"elsewhere://:hidden@127.0.0.1:{port}", rate_limit_user=2
        )
        app = create_app(settings, world.clock)
        app.test_client_class = PublicAddressClient
        assert [get(app, cast.owner).status_code for _ in range(3)] == [200, 200, 429]  # while it answers
    with caplog.at_level(logging.WARNING):
        assert [get(app, cast.owner).status_code for _ in range(4)] == [200] * 4
        assert app.test_client().get("/login/start?org=nobody").status_code == 422
        app.extensions["keepline.limits"]._silent_until = 0.0  # as after five seconds, when it is asked again
        assert get(app, cast.owner).status_code == 200
        assert app.extensions["keepline.limits"]._silent_until > 0
    app.extensions["keepline"].binder.close()
    said = [record.getMessage() for record in caplog.records if record.name == "web.limits"]
    assert said == [
        "The storage of the rate limits does not answer (ConnectionRefusedError); calls are let through uncounted."
    ]


def test_the_limits_are_the_contract_s_unless_set(tmp_path: Path) -> None:
    settings = read_settings({"KEEPLINE_DATA_DIR": str(tmp_path)})
    assert (settings.rate_limit_user, settings.rate_limit_org, settings.rate_limit_address) == (600, 12_000, 600)
    assert settings.rate_limit_storage == "shared-memory://"
    assert (
        read_settings({"KEEPLINE_DATA_DIR": str(tmp_path), **dict.fromkeys(NAMES, "10000000")}).rate_limit_org == 10**7
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["0", "-1", "10000001", "6_00", "600/minute", " 600", "1e3", "٦٠٠"])
def test_a_limit_that_is_no_number_of_calls_stops_the_start(name: str, value: str) -> None:
    with pytest.raises(SetupError, match=f"^{name} is .* it must be a whole number from 1 to 10000000"):
        read_settings({name: value})


@pytest.mark.parametrize(
    "value",
    ["localhost:6379", "redis", "redis://", "redis:", "sqlite://x", "memory://", "async+redis://h", "file:///tmp/x",
     "redis://h h", "redis://h\n", "http://h"],
)  # fmt: skip
def test_a_storage_of_no_known_kind_stops_the_start(value: str) -> None:
    with pytest.raises(SetupError, match=r"^KEEPLINE_RATE_LIMIT_STORAGE is not the address of a storage; it must be"):
        read_settings({"KEEPLINE_RATE_LIMIT_STORAGE": value})


def test_a_storage_whose_client_is_not_installed_stops_the_start_and_shows_no_password() -> None:
    with pytest.raises(SetupError, match=r"for which the Python package redis must be installed") as refusal:
        read_settings({"KEEPLINE_RATE_LIMIT_STORAGE": "redis://:hidden@127.0.0.1:6379"})
    assert "hidden" not in str(refusal.value)
