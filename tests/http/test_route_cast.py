"""Every route of the app is met by everybody as `route_table.py` says, and a route that it does not name fails.

What belongs to somebody else is answered as what does not exist, to the byte.
"""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from flask.testing import FlaskClient
from route_table import API_ACTORS, PAGE_ACTORS, expected_routes
from werkzeug.test import TestResponse

from tenancy.guards import guard_of
from tests.cast import Calls, Cast, Person, csrf_token_of
from tests.world import World

ROUTES = expected_routes()
_SKIPPED = {"HEAD", "OPTIONS"}


def _address(rule: str, record_id: object = None) -> str:
    return re.sub(r"<[^>]+>", str(record_id or uuid4()), rule)


def _send(client: FlaskClient, method: str, address: str, headers: dict[str, str], form: bool) -> TestResponse:
    body: dict[str, Any] = {}
    if method != "GET":
        body = {"data": {"csrf_token": headers.pop("csrf", "")}} if form else {"json": {}}
    return client.open(address, method=method, headers=headers, **body)


def test_the_table_knows_every_route(world: World) -> None:
    served = {
        (method, rule.rule): guard_of(world.app, rule.endpoint).door.value
        for rule in world.app.url_map.iter_rules()
        for method in (rule.methods or set()) - _SKIPPED
    }
    assert served == {route: door for route, (door, _) in ROUTES.items()}
    for route, (door, cells) in ROUTES.items():
        actors = {"public": "", "api": API_ACTORS, "page": PAGE_ACTORS}[door].split()
        assert len(cells) == len(actors), route


def test_every_call_is_met_as_the_table_says(world: World, cast: Cast) -> None:
    credentials = {"assistant": cast.owner.assistant}
    credentials |= {name: getattr(cast, name).program for name in API_ACTORS.split()[1:]}
    for (method, rule), (door, cells) in ROUTES.items():
        if door != "api":
            continue
        anonymous = _send(world.app.test_client(), method, _address(rule), {}, form=False)
        assert anonymous.status_code == 401, rule
        for (name, calls), cell in zip(credentials.items(), cells, strict=True):
            headers = {"Authorization": f"Bearer {calls.token}"}
            reply = _send(world.app.test_client(), method, _address(rule), headers, form=False)
            met = "403" if reply.status_code == 403 else "pass"
            assert reply.status_code not in (401, 429, 500), (name, method, rule, reply.text)
            assert met == cell, (name, method, rule, reply.text)


def test_every_page_is_met_as_the_table_says(world: World, cast: Cast) -> None:
    for name in PAGE_ACTORS.split():
        place = PAGE_ACTORS.split().index(name)
        browser = getattr(cast, name).browser()
        token = csrf_token_of(browser.get("/settings/memory").text)
        for (method, rule), (door, cells) in sorted(ROUTES.items(), key=lambda item: "end-everywhere" in item[0][1]):
            if door != "page" or rule == "/logout":
                continue
            reply = _send(browser, method, _address(rule), {"csrf": token}, form=True)
            assert reply.status_code not in (401, 429, 500), (name, method, rule)
            assert ("403" if reply.status_code == 403 else "pass") == cells[place], (name, method, rule)
        anonymous = world.app.test_client()
        for method, rule in [route for route, (door, _) in ROUTES.items() if door == "page"]:
            assert _send(anonymous, method, _address(rule), {}, form=True).status_code in (302, 401), rule


# For each family of ids: somebody with every right in their own org, and an id of another org or person.
Foreign = Callable[[World, Cast], object]
FOREIGN: dict[str, tuple[str, Foreign]] = {
    "/v1/org/clients/": ("admin", lambda world, cast: _foreign(world, cast, "clients")),
    "/v1/org/providers/": ("admin", lambda world, cast: _foreign(world, cast, "providers")),
    "/admin/clients/": ("admin", lambda world, cast: _foreign(world, cast, "clients")),
    "/admin/identity/": ("admin", lambda world, cast: _foreign(world, cast, "providers")),
    "/settings/sessions/": ("owner", lambda world, cast: _session_of(world, cast.teammate)),
}


def _foreign(world: World, cast: Cast, table: str) -> object:
    org_id = cast.stranger.identity.org_id
    [(record_id,)] = world.rows(f"SELECT id FROM app.{table} WHERE org_id = %s LIMIT 1", org_id)
    return record_id


def _session_of(world: World, person: Person) -> object:
    person.browser()
    [(record_id,)] = world.rows("SELECT id FROM app.web_sessions WHERE user_id = %s", person.user_id)
    return record_id


def _answer(reply: TestResponse, record_id: object) -> tuple[int, str, dict[str, str]]:
    """What was answered, without what differs from one request to the next: its own number and the id asked for."""
    number = reply.headers["X-Request-Id"]
    body = reply.text.replace(number, "").replace(str(record_id), "")
    headers = {name: value for name, value in reply.headers.items() if name not in ("X-Request-Id", "Date")}
    return reply.status_code, body, headers


def test_every_route_with_an_id_belongs_to_a_family() -> None:
    for _, rule in ROUTES:
        if "<uuid:" in rule:
            assert any(rule.startswith(family) for family in FOREIGN), rule


@pytest.mark.parametrize("family", FOREIGN)
def test_what_is_somebody_elses_is_answered_as_what_does_not_exist(world: World, cast: Cast, family: str) -> None:
    name, foreign_id = FOREIGN[family]
    person, foreign = getattr(cast, name), foreign_id(world, cast)
    browser = person.browser()
    token = csrf_token_of(browser.get("/settings/memory").text)
    tried = 0
    for (method, rule), (door, _) in ROUTES.items():
        if not rule.startswith(family) or "<uuid:" not in rule:
            continue
        tried += 1
        for missing in (uuid4(), uuid4()):
            answers = [
                _answer(_ask(person.program, browser, token, door, method, _address(rule, record)), record)
                for record in (foreign, missing)
            ]
            assert answers[0] == answers[1], (method, rule)
            assert answers[0][0] == 404, (method, rule, answers[0][1])
    assert tried


def _ask(calls: Calls, browser: FlaskClient, token: str, door: str, method: str, address: str) -> TestResponse:
    """Ask in a way that only the id is left to object to."""
    if door == "page":
        fields = {
            "csrf_token": token, "confirm": {"revoke": "revoke", "disconnect": "disconnect", "sign-in": "sign-in"}.get(
                address.rsplit("/", 1)[-1], ""
            ),
            "name": "Name", "scopes": "memory:read", "client_id": "another-id", "overlap_hours": "1",
            "client_secret": "x" * 20,
        }  # fmt: skip
        return browser.open(address, method=method, data=fields if method == "POST" else None)
    return calls.post(address, {"client_id": "another-id"} if address.endswith("/replace") else None)
