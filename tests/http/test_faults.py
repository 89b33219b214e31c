"""What is not the caller's fault: said as such, with nothing of the inside, and retried where that can help."""

import logging
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask

from app import create_app
from tenancy.guards import PUBLIC, GuardedFlask, guarded
from tenancy.setting_values import DatabaseUrls, KeyPair
from tests.cast import Cast
from tests.world import WEB_PORT, PublicAddressClient, World

WORD = "zyxquokka77"


def app_on(world: World, database: str) -> GuardedFlask:
    """An app of this world whose database address leads nowhere."""
    keys = world.settings.data_folder / "keys"
    settings = replace(
        world.settings,
        database=DatabaseUrls(database, database, database),
        secret_key=KeyPair((keys / "secret_key").read_bytes().strip(), None),
        identity_key=KeyPair((keys / "identity_key").read_bytes().strip(), None),
    )
    app = create_app(settings, world.clock)
    app.test_client_class = PublicAddressClient
    return app


@pytest.fixture(params=["no socket", "refused", "wrong password"])
def away(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Iterator[Flask]:
    """An app whose database can't be reached."""
    if request.param == "no socket":
        address = f"host={tmp_path} user=keepline_app dbname=keepline"
    elif request.param == "refused":
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        address = f"host=127.0.0.1 port={port} user=keepline_app dbname=keepline"
    else:
        address = world.app_conninfo().replace("keepline_app", "nobody_of_that_name")
    app = app_on(world, address)
    yield app
    app.extensions["keepline"].binder.close()


def test_a_database_that_is_away_is_said_with_a_time_to_retry(away: GuardedFlask, cast: Cast) -> None:
    headers = {"Authorization": f"Bearer {cast.owner.assistant.token}"}
    for path in ("/v1/memory/block", "/v1/prompt", "/v1/memory/changes", "/readyz"):
        reply = away.test_client().get(path, headers=headers)
        assert (reply.status_code, reply.mimetype) == (503, "application/problem+json")
        assert reply.get_json()["code"] == "database_unavailable"
        assert int(reply.headers["Retry-After"]) > 0
        assert "host" not in reply.text
        assert "nobody_of_that_name" not in reply.text
    saved = away.test_client().put("/v1/memory/block", json={"text": "x"}, headers=headers)
    assert saved.status_code == 503
    assert "Nothing of this request was stored" in saved.get_json()["detail"]


def test_a_page_without_its_database_is_a_page_all_the_same(away: GuardedFlask) -> None:
    browser = away.test_client()
    browser.set_cookie(f"keepline_{WEB_PORT}", "a-session", domain="127.0.0.1")
    for path in ("/settings/memory", "/login/start?org=acme", "/login/callback?state=x"):
        reply = browser.get(path)
        assert (reply.status_code, reply.mimetype) == (503, "text/html"), path
        assert int(reply.headers["Retry-After"]) > 0
        assert 'id="error-sentence"' in reply.text
    assert browser.get("/healthz").status_code == 200
    assert away.test_client().get("/login").status_code == 200


def test_a_call_that_comes_back_after_the_database_does_is_served(world: World, cast: Cast) -> None:
    """Connections that the server closed meanwhile are replaced."""
    with world.another_app() as app:
        headers = {"Authorization": f"Bearer {cast.owner.assistant.token}"}
        assert app.test_client().get("/v1/memory/block", headers=headers).status_code == 200
        binder = app.extensions["keepline"].binder
        for path in ("/v1/memory/block", "/v1/prompt"):
            with binder.bound(cast.owner.identity) as connection:
                backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            assert world.rows("SELECT pg_terminate_backend(%s, 5000)", backend) == [(True,)]
            assert app.test_client().get(path, headers=headers).status_code == 200


def breaking_app(world: World) -> GuardedFlask:
    app = create_app(world.settings, world.clock)
    app.test_client_class = PublicAddressClient

    @guarded(PUBLIC)
    def break_down() -> str:
        raise RuntimeError(f"inside: {WORD}")

    app.add_url_rule("/v1/break", "break_call", break_down)
    app.add_url_rule("/break", "break_page", break_down)
    return app


def test_an_unexpected_error_says_nothing_of_the_inside(world: World) -> None:
    app = breaking_app(world)
    call, page = app.test_client().get("/v1/break"), app.test_client().get("/break")
    assert (call.status_code, call.mimetype) == (500, "application/problem+json")
    assert call.get_json()["code"] == "internal"
    assert call.get_json()["request_id"] == call.headers["X-Request-Id"]
    assert (page.status_code, page.mimetype) == (500, "text/html")
    assert page.headers["X-Request-Id"] in page.text
    for reply in (call, page):
        assert WORD not in reply.text
        assert "Traceback" not in reply.text
        assert "RuntimeError" not in reply.text
        assert reply.headers["Cache-Control"] == "private, no-store"


def test_an_unexpected_error_of_the_database_puts_nobody_s_words_in_the_log(
    world: World, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    """A statement that fails for a reason that no code foresees: a column's check that was never there."""
    with world.superuser() as connection:
        connection.execute("ALTER TABLE app.blocks ADD CONSTRAINT odd CHECK (text NOT LIKE 'zyx%')")
    try:
        with caplog.at_level(logging.DEBUG):
            reply = cast.owner.assistant.write(f"{WORD} likes tea")
    finally:
        with world.superuser() as connection:
            connection.execute("ALTER TABLE app.blocks DROP CONSTRAINT odd")
    assert (reply.status_code, reply.get_json()["code"]) == (500, "internal")
    assert WORD not in reply.text
    assert reply.headers["X-Request-Id"] in caplog.text
    assert WORD not in caplog.text
