"""A disconnected provider: nothing that began there comes back, and connecting it again is an act of its own."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from admin.identity import store
from memory.audit.rules import Author, Writer
from tenancy.guards import GuardedFlask
from tests.cast import Calls, Person, csrf_token_of
from tests.world import World

PROVIDERS = "/v1/org/providers"
MISSING = UUID("019a0000-0000-7000-8000-000000000000")
CONNECT = "SELECT tenancy.connect_provider('https://x.example', 'x', '', '', 'x', NULL, 'openid', '[]')"
DISCONNECT = "SELECT tenancy.disconnect_provider(:id)"
RECONNECT = "SELECT tenancy.reconnect_provider(:id)"


@pytest.fixture
def second(admin: Calls, world: World) -> dict[str, Any]:
    """A second provider of acme, by which people could sign in."""
    body = {
        "issuer": f"{world.demo.provider_url}/acme", "audience": "second", "client_id": "keepline-web",
        "client_secret": world.demo.web_client_secret,
    }  # fmt: skip
    reply = admin.put(PROVIDERS, body)
    assert reply.status_code == 200, reply.text
    made: dict[str, Any] = reply.get_json()
    return made


def post(browser: FlaskClient, path: str, **fields: Any) -> Any:
    return browser.post(path, data={"csrf_token": csrf_token_of(browser.get("/admin/policy").text), **fields})


def stored(world: World, provider_id: str) -> list[tuple[Any, ...]]:
    return world.rows(
        "SELECT client_id, has_secret, scopes, claim_rules, for_sign_in, disconnected_at FROM app.providers "
        "WHERE id = %s",
        provider_id,
    )


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("", {"client_id": "other", "scopes": "openid"}),
        ("/secret", {"client_secret": "another"}),
        ("/secret", {"remove": "1"}),
        ("/rules", {"act": "save", "claim": "roles", "value": "admin", "grants": "admin", "team": ""}),
        ("/sign-in", {"confirm": "sign-in"}),
    ],
)
def test_no_form_connects_a_disconnected_provider_by_the_way(
    admin_browser: FlaskClient, admin: Calls, world: World, second: dict[str, Any], path: str, fields: dict[str, str]
) -> None:
    page = f"/admin/identity/{second['id']}"
    assert admin.post(f"{PROVIDERS}/{second['id']}/disconnect").status_code == 200
    before = stored(world, second["id"])
    assert before[0][-1] is not None
    refused = post(admin_browser, f"{page}{path}", **fields)
    assert refused.status_code == 409
    assert "This provider is disconnected. Nothing was changed. Connect it again first." in refused.text
    assert stored(world, second["id"]) == before
    assert post(admin_browser, f"{page}/reconnect").status_code == 303
    assert stored(world, second["id"])[0][-1] is None
    assert post(admin_browser, f"{page}{path}", **fields).status_code == 303


def test_neither_sessions_nor_tokens_of_before_come_back(
    app: GuardedFlask, admin: Calls, admin_browser: FlaskClient, world: World, second: dict[str, Any],
    trail: Callable[[], list[Any]],
) -> None:  # fmt: skip
    of_second = {"issuer": second["issuer"], "audience": "second"}
    assert admin.put(PROVIDERS, {**of_second, "for_sign_in": True}).status_code == 200
    browser = app.test_client()
    assert browser.get(Person(world, "member").answer_of_provider(browser, "acme")).status_code == 302
    assert admin.put(PROVIDERS, {**of_second, "audience": "keepline", "for_sign_in": True}).status_code == 200
    assert browser.get("/settings/memory").status_code == 200
    sessions = "SELECT count(*) FROM app.web_sessions WHERE provider_id = %s"
    assert world.rows(sessions, second["id"]) == [(1,)]
    assert admin.post(f"{PROVIDERS}/{second['id']}/disconnect").status_code == 200
    assert world.rows(sessions, second["id"]) == [(0,)]
    signed_out = "SELECT signed_out_at <= clock_timestamp() FROM app.users WHERE provider_id {} %s"
    assert world.rows(signed_out.format("="), second["id"]) == [(True,)]
    assert set(world.rows(signed_out.format("<>"), second["id"])) == {(None,)}
    assert trail()[-1][:4] == ("provider.disconnect", "provider", second["id"], {"sessions": 1})
    assert admin.put(PROVIDERS, of_second).get_json()["disconnected_at"] is None
    assert browser.get("/settings/memory").status_code == 302
    assert admin_browser.get("/settings/memory").status_code == 200


def test_a_session_that_began_as_its_provider_was_disconnected_does_not_come_back(
    admin: Calls, world: World, second: dict[str, Any]
) -> None:
    assert admin.post(f"{PROVIDERS}/{second['id']}/disconnect").status_code == 200
    with world.superuser() as connection:
        connection.execute(
            "INSERT INTO app.web_sessions (org_id, user_id, roles, team_ids, led_team_ids, digest, provider_id, "
            "created_at, last_seen_at, rights_at) SELECT org_id, id, 0, '{}', '{}', sha256('x'), %s, now(), now(), "
            "now() FROM app.users WHERE id = %s",
            (second["id"], Person(world, "member").user_id),
        )
    sessions = "SELECT count(*) FROM app.web_sessions WHERE provider_id = %s"
    assert world.rows(sessions, second["id"]) == [(1,)]
    body = {"issuer": second["issuer"], "audience": "second"}
    assert admin.put(PROVIDERS, body).status_code == 200
    assert world.rows(sessions, second["id"]) == [(0,)]


def test_what_is_sent_with_connecting_it_again_holds(
    admin: Calls, second: dict[str, Any], trail: Callable[[], list[Any]]
) -> None:
    assert admin.post(f"{PROVIDERS}/{second['id']}/disconnect").status_code == 200
    body = {"issuer": second["issuer"], "audience": "second", "client_id": "other", "for_sign_in": False}
    assert admin.put(PROVIDERS, body).get_json() == {**second, "client_id": "other"}
    assert [entry[0] for entry in trail()] == [
        "provider.connect", "provider.disconnect", "provider.connect", "provider.change",
    ]  # fmt: skip


def test_one_that_was_disconnected_meanwhile_is_not_changed(admin: Calls, world: World, second: dict[str, Any]) -> None:
    """Whoever examined it as it was connected meets it disconnected in the second transaction."""
    assert admin.post(f"{PROVIDERS}/{second['id']}/disconnect").status_code == 200
    identity, author = Person(world, "admin").identity, Author(Writer.USER, "test", "test")
    before = stored(world, second["id"])
    for changes in (store.ProviderChanges(client_id="other"), store.ProviderChanges(for_sign_in=True)):
        with (
            pytest.raises(store.ProviderInUseError, match="Connect it again first"),
            world.services.binder.bound(identity) as connection,
        ):
            store.change(connection, identity, author, UUID(second["id"]), changes)
    assert stored(world, second["id"]) == before


@pytest.mark.parametrize("name", ["member", "lead", "reviewer"])
@pytest.mark.parametrize("call", [CONNECT, DISCONNECT, RECONNECT])
def test_the_database_asks_for_an_admin(app: GuardedFlask, world: World, name: str, call: str) -> None:
    binder = app.extensions["keepline"].binder
    with pytest.raises(DBAPIError) as refused, binder.bound(Person(world, name).identity) as connection:
        connection.execute(text(call), {"id": MISSING} if ":id" in call else {})
    assert getattr(refused.value.orig, "sqlstate", None) == "42501"
    with binder.bound(Person(world, "admin").identity) as connection:
        connection.execute(text(call), {"id": MISSING} if ":id" in call else {})


def test_the_database_disconnects_no_other_orgs_and_none_that_people_sign_in_by(
    app: GuardedFlask, world: World, second: dict[str, Any]
) -> None:
    [(used,)] = world.rows("SELECT id FROM app.providers WHERE for_sign_in AND issuer = %s", second["issuer"])
    binder = app.extensions["keepline"].binder

    def disconnect(name: str, provider_id: str | UUID) -> object:
        with binder.bound(Person(world, name).identity) as connection:
            return connection.execute(text(DISCONNECT), {"id": provider_id}).scalar_one()

    assert disconnect("stranger-admin", second["id"]) is None
    assert disconnect("admin", used) is None
    assert stored(world, second["id"])[0][-1] is None
    assert disconnect("admin", second["id"]) == 0
    assert stored(world, second["id"])[0][-1] is not None


def test_an_admin_has_no_way_around_the_guard(app: GuardedFlask, world: World) -> None:
    binder, identity = app.extensions["keepline"].binder, Person(world, "admin").identity
    for value in ("now()", "NULL"):
        with pytest.raises(DBAPIError) as refused, binder.bound(identity) as connection:
            connection.execute(text(f"UPDATE app.providers SET disconnected_at = {value}"))
        assert getattr(refused.value.orig, "sqlstate", None) == "42501"
    with binder.bound(identity) as connection:
        assert connection.execute(text("UPDATE app.providers SET scopes = scopes")).rowcount == 1
