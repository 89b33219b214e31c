"""Admins with tokens of their own on an app that remembers nothing; what they decide is undone after each test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from demo.seed import ASSISTANT_CLIENT, USER_CLIENT
from tenancy.guards import GuardedFlask
from tests.cast import LOGIN_NAMES, Calls, Person
from tests.world import World

_OF_PROVIDERS = "client_id, client_secret, secret_name, scopes, claim_rules::text, for_sign_in, disconnected_at"
_PUT_BACK = (
    "UPDATE app.providers SET client_id = %s, client_secret = %s, secret_name = %s, scopes = %s, "
    "claim_rules = %s::jsonb, for_sign_in = %s, disconnected_at = %s WHERE org_id = %s AND id = %s"
)


@pytest.fixture
def app(world: World) -> Iterator[GuardedFlask]:
    """An app of this test's own, so that no other test meets what this one changes."""
    with world.superuser() as connection:
        clients = connection.execute("SELECT org_id, client_id, name, kind, scopes FROM app.clients").fetchall()
        providers = connection.execute(f"SELECT {_OF_PROVIDERS}, org_id, id FROM app.providers").fetchall()
    with world.another_app() as app:
        yield app
    with world.superuser() as connection:
        connection.execute("DELETE FROM app.org_policies")
        connection.execute(
            "DELETE FROM app.clients WHERE (org_id, client_id) <> ALL (SELECT * FROM unnest(%s::uuid[], %s::text[]))",
            ([row[0] for row in clients], [row[1] for row in clients]),
        )
        for org_id, client_id, name, kind, scopes in clients:
            connection.execute(
                "UPDATE app.clients SET name = %s, kind = %s, scopes = %s, revoked_at = NULL, replaced_by = NULL "
                "WHERE org_id = %s AND client_id = %s",
                (name, kind, scopes, org_id, client_id),
            )
        connection.execute(
            "DELETE FROM app.web_sessions WHERE provider_id <> ALL (%s)", ([row[-1] for row in providers],)
        )
        connection.execute("DELETE FROM app.users WHERE provider_id <> ALL (%s)", ([row[-1] for row in providers],))
        connection.execute("DELETE FROM app.providers WHERE id <> ALL (%s)", ([row[-1] for row in providers],))
        connection.execute(
            "DELETE FROM app.token_audiences t WHERE NOT EXISTS "
            "(SELECT FROM app.providers p WHERE (p.issuer, p.audience) = (t.issuer, t.audience))"
        )
        for row in providers:
            connection.execute(_PUT_BACK, row)


@pytest.fixture
def calls(world: World, app: GuardedFlask) -> Callable[..., Calls]:
    """Whoever is named, by a program of their own or by the assistant."""

    def as_whom(name: str, *, assistant: bool = False) -> Calls:
        person = Person(world, LOGIN_NAMES.get(name, name))
        return Calls(app.test_client(), person.token(ASSISTANT_CLIENT if assistant else USER_CLIENT))

    return as_whom


@pytest.fixture
def admin(calls: Callable[..., Calls]) -> Calls:
    """The admin of acme."""
    return calls("admin")


@pytest.fixture
def admin_browser(world: World, app: GuardedFlask) -> FlaskClient:
    """A browser in which the admin of acme signed in."""
    browser = app.test_client()
    assert browser.get(Person(world, "admin").answer_of_provider(browser, "acme")).status_code == 302
    return browser


@pytest.fixture
def stranger_admin(calls: Callable[..., Calls]) -> Calls:
    """The admin of birch."""
    return calls("stranger-admin")


@pytest.fixture
def trail(world: World) -> Callable[[], list[tuple[Any, ...]]]:
    """What admins' acts left in the trail, in order: action, kind of target, its id, counts, writer, client."""
    return lambda: world.rows(
        "SELECT action, target_kind, target_id, counts, writer, client FROM app.audit_events "
        "WHERE action ~ '^(policy|client|provider)[.]' ORDER BY id"
    )
