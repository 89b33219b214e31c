"""The registry of clients: registered, changed, replaced, revoked and revived by the own org's admins."""

from collections.abc import Callable
from typing import Any

import pytest

from tenancy.clients import ASSISTANT_SCOPES, USER_SCOPES
from tests.cast import Calls
from tests.world import World

CLIENTS = "/v1/org/clients"
MISSING = "019a0000-0000-7000-8000-000000000000"
FIELDS = {"id", "client_id", "name", "kind", "scopes", "created_at", "last_used_at", "revoked_at", "replaced_by"}


def register(calls: Calls, **fields: Any) -> dict[str, Any]:
    reply = calls.put(CLIENTS, {"client_id": "helpdesk", "name": "Helpdesk", **fields})
    assert reply.status_code == 200, reply.text
    client: dict[str, Any] = reply.get_json()
    return client


def listed(calls: Calls) -> dict[str, dict[str, Any]]:
    return {client["client_id"]: client for client in calls.get(CLIENTS).get_json()["items"]}


def test_a_client_is_registered_with_what_its_kind_may_hold(admin: Calls, trail: Callable[[], list[Any]]) -> None:
    client = register(admin)
    assert set(client) == FIELDS
    assert (client["kind"], client["scopes"]) == ("assistant", sorted(ASSISTANT_SCOPES))
    assert (client["last_used_at"], client["revoked_at"], client["replaced_by"]) == (None, None, None)
    assert listed(admin)["helpdesk"] == client
    console = register(admin, client_id="my-console", name="Console", kind="user")
    assert console["scopes"] == sorted(USER_SCOPES)
    assert trail() == [
        ("client.register", "client", client["id"], {"scopes": 6}, "user", "demo-console"),
        ("client.register", "client", console["id"], {"scopes": len(USER_SCOPES)}, "user", "demo-console"),
    ]


def test_name_and_scopes_change_and_what_is_left_out_stays(admin: Calls, trail: Callable[[], list[Any]]) -> None:
    made = register(admin, scopes=["memory:read"])
    renamed = register(admin, name="Help desk")
    assert renamed == {**made, "name": "Help desk"}
    widened = register(admin, name="Help desk", scopes=["memory:write", "memory:read", "memory:read"])
    assert widened == {**renamed, "scopes": ["memory:read", "memory:write"]}
    register(admin, name="Help desk")
    assert [entry[0] for entry in trail()] == ["client.register", "client.change", "client.change"]


def test_a_kind_never_changes(admin: Calls) -> None:
    made = register(admin, kind="user")
    reply = admin.put(CLIENTS, {"client_id": "helpdesk", "name": "Other", "kind": "assistant"})
    assert (reply.status_code, reply.get_json()["code"]) == (409, "client_kind")
    assert listed(admin)["helpdesk"] == made
    assert register(admin, name="Still a user's")["kind"] == "user"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("client_id", "web"), ("client_id", ""), ("client_id", " "), ("client_id", "a\nb"), ("client_id", "a\0b"),
        ("client_id", "x" * 201), ("client_id", " padded"), ("client_id", 7), ("name", ""), ("name", "a\x85b"),
        ("name", "x" * 201), ("name", "\ud800"), ("name", None), ("kind", "model"), ("scopes", []),
        ("scopes", ["memory:manage"]), ("scopes", ["everything"]), ("scopes", "memory:read"), ("scopes", ["x\0"]),
        ("org_id", MISSING), ("revoked_at", None),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_its_name(
    admin: Calls, trail: Callable[[], list[Any]], field: str, value: object
) -> None:
    before = listed(admin)
    reply = admin.put(CLIENTS, {"client_id": "helpdesk", "name": "Helpdesk", field: value})
    assert reply.status_code == 422, reply.text
    assert set(reply.get_json()["errors"]) == {field}
    assert listed(admin) == before
    assert trail() == []


def test_two_hundred_characters_fit(admin: Calls) -> None:
    assert register(admin, client_id="x" * 200, name="é" * 200)["name"] == "é" * 200


def test_a_revoked_client_is_refused_at_once_and_registering_it_again_revives_it(
    admin: Calls, calls: Callable[..., Calls], world: World, trail: Callable[[], list[Any]]
) -> None:
    assistant = calls("owner", assistant=True)
    assert assistant.get("/v1/memory/block").status_code == 200
    client = listed(admin)["demo-assistant"]
    revoked = admin.post(f"{CLIENTS}/{client['id']}/revoke").get_json()
    assert revoked["revoked_at"].endswith("Z")
    reply = assistant.get("/v1/memory/block")
    assert (reply.status_code, reply.get_json()["code"]) == (403, "client_unknown")
    assert admin.post(f"{CLIENTS}/{client['id']}/revoke").get_json() == revoked
    revived = register(admin, client_id="demo-assistant", name="Demo assistant")
    assert (revived["id"], revived["revoked_at"]) == (client["id"], None)
    with world.another_app() as fresh:  # this one remembers for 3 s that the client was unknown
        assert Calls(fresh.test_client(), assistant.token).get("/v1/memory/block").status_code == 200
    assert [entry[0] for entry in trail()] == ["client.revoke", "client.register"]


def test_a_replaced_client_goes_on_for_the_overlap(
    admin: Calls, calls: Callable[..., Calls], world: World, trail: Callable[[], list[Any]]
) -> None:
    assistant = calls("owner", assistant=True)
    old = listed(admin)["demo-assistant"]
    reply = admin.post(f"{CLIENTS}/{old['id']}/replace", {"client_id": "demo-assistant-2"})
    new = reply.get_json()
    assert (reply.status_code, set(new)) == (200, FIELDS)
    assert {name: new[name] for name in ("name", "kind", "scopes", "revoked_at", "replaced_by")} == {
        "name": old["name"], "kind": old["kind"], "scopes": old["scopes"], "revoked_at": None, "replaced_by": None,
    }  # fmt: skip
    ending = listed(admin)["demo-assistant"]
    assert ending["replaced_by"] == "demo-assistant-2"
    assert world.rows(
        "SELECT revoked_at - clock_timestamp() BETWEEN interval '23:59' AND interval '24:00' FROM app.clients "
        "WHERE replaced_by = 'demo-assistant-2'"
    ) == [(True,)]
    assert assistant.get("/v1/memory/block").status_code == 200
    # A change of its name does not let it go on for longer.
    renamed = register(admin, client_id="demo-assistant", name="Demo assistant, old")
    assert renamed == {**ending, "name": "Demo assistant, old", "last_used_at": renamed["last_used_at"]}
    assert admin.post(f"{CLIENTS}/{old['id']}/revoke").status_code == 200
    assert assistant.get("/v1/memory/block").status_code == 403
    assert [(entry[0], entry[3]) for entry in trail()] == [
        ("client.replace", {"overlap_hours": 24}), ("client.change", {"scopes": 6}), ("client.revoke", {}),
    ]  # fmt: skip


def test_without_an_overlap_the_replaced_client_is_refused_at_once(admin: Calls, calls: Callable[..., Calls]) -> None:
    assistant = calls("owner", assistant=True)
    assert assistant.get("/v1/memory/block").status_code == 200
    old = listed(admin)["demo-assistant"]
    body = {"client_id": "demo-assistant-3", "overlap_hours": 0}
    assert admin.post(f"{CLIENTS}/{old['id']}/replace", body).status_code == 200
    assert assistant.get("/v1/memory/block").status_code == 403


def test_a_replacement_needs_a_new_id_and_a_client_in_force(admin: Calls) -> None:
    client = register(admin)
    path = f"{CLIENTS}/{client['id']}/replace"
    for taken in ("helpdesk", "demo-assistant"):
        reply = admin.post(path, {"client_id": taken})
        assert (reply.status_code, reply.get_json()["code"]) == (409, "client_exists")
    assert listed(admin)["helpdesk"] == client
    assert admin.post(path, {"client_id": "helpdesk-2"}).status_code == 200
    reply = admin.post(path, {"client_id": "helpdesk-3"})
    assert (reply.status_code, reply.get_json()["code"]) == (409, "client_revoked")


@pytest.mark.parametrize(
    "body",
    [
        {}, {"client_id": "web"}, {"client_id": ""}, {"client_id": "n", "overlap_hours": 169},
        {"client_id": "n", "overlap_hours": -1}, {"client_id": "n", "overlap_hours": 1.5},
        {"client_id": "n", "overlap_hours": True}, {"client_id": "n", "name": "N"},
    ],
)  # fmt: skip
def test_a_replacement_that_does_not_fit_changes_nothing(admin: Calls, body: dict[str, Any]) -> None:
    client = register(admin)
    assert admin.post(f"{CLIENTS}/{client['id']}/replace", body).status_code == 422
    assert listed(admin)["helpdesk"] == client


@pytest.mark.parametrize(("act", "body"), [("revoke", None), ("replace", {"client_id": "taken-over"})])
def test_another_org_s_client_is_answered_like_a_missing_one(
    admin: Calls, stranger_admin: Calls, act: str, body: object
) -> None:
    client = register(admin)
    foreign = stranger_admin.post(f"{CLIENTS}/{client['id']}/{act}", body)
    missing = stranger_admin.post(f"{CLIENTS}/{MISSING}/{act}", body)
    assert foreign.status_code == missing.status_code == 404
    reference = foreign.get_json()["request_id"].encode()
    assert foreign.data.replace(reference, missing.get_json()["request_id"].encode()) == missing.data
    assert listed(admin)["helpdesk"] == client
    assert "helpdesk" not in listed(stranger_admin)
    assert admin.post(f"{CLIENTS}/{client['id']}/{act}", body).status_code == 200


def test_one_id_may_be_registered_in_two_orgs(admin: Calls, stranger_admin: Calls) -> None:
    ours, theirs = register(admin, name="Ours"), register(stranger_admin, name="Theirs", kind="user")
    assert ours["id"] != theirs["id"]
    assert listed(admin)["helpdesk"] == ours
    assert listed(stranger_admin)["helpdesk"] == theirs


def test_the_list_is_read_page_by_page(admin: Calls, stranger_admin: Calls) -> None:
    for number in range(3):
        register(admin, client_id=f"c{number}", name="C")
    found: list[str] = []
    query = "limit=2"
    while query:
        page = admin.get(f"{CLIENTS}?{query}").get_json()
        assert set(page) == {"items", "next_cursor"}
        assert len(page["items"]) <= 2
        found += [client["client_id"] for client in page["items"]]
        if page["next_cursor"]:
            assert stranger_admin.get(f"{CLIENTS}?cursor={page['next_cursor']}").status_code == 422
        query = f"limit=2&cursor={page['next_cursor']}" if page["next_cursor"] else ""
    assert len(found) == len(set(found))
    assert set(found) == set(listed(admin)) >= {"c0", "c1", "c2", "demo-assistant", "demo-console"}


def test_the_last_use_is_shown(admin: Calls) -> None:
    assert listed(admin)["demo-console"]["last_used_at"].endswith("Z")
