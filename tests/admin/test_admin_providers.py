"""Identity providers of an org: connected after an examination, changed, chosen for signing in, disconnected."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import psycopg
import pytest

from admin.identity.store import use_for_sign_in
from memory.audit.rules import Author, Writer
from tenancy.guards import GuardedFlask
from tests.cast import Calls, Person
from tests.world import WEB_PORT, World

PROVIDERS = "/v1/org/providers"
MISSING = "019a0000-0000-7000-8000-000000000000"
FIELDS = {
    "id", "issuer", "audience", "client_id", "claim_name", "claim_value", "scopes", "claim_rules", "for_sign_in",
    "secret", "created_at", "disconnected_at", "redirect_uri", "backchannel_logout_uri",
}  # fmt: skip
HUSH = "hush-4f1c-not-to-be-seen"


@pytest.fixture
def issuer(world: World) -> str:
    """The issuer that acme's people sign in by, which answers as it should."""
    return f"{world.demo.provider_url}/acme"


def listed(calls: Calls) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = calls.get(f"{PROVIDERS}?limit=100").get_json()["items"]
    return items


def own(calls: Calls) -> dict[str, Any]:
    """The provider that the demo connected."""
    return next(provider for provider in listed(calls) if provider["audience"] == "keepline")


def believed(world: World, issuer: str) -> set[str]:
    """The audiences whose tokens of the issuer are believed."""
    return {row[5] for row in world.services.binder.look_up("find_token_providers", issuer=issuer)}


def put(calls: Calls, issuer: str, **fields: Any) -> Any:
    return calls.put(PROVIDERS, {"issuer": issuer, "audience": "second", "client_id": "keepline-web", **fields})


def test_a_provider_is_shown_with_the_addresses_to_register_there(admin: Calls, issuer: str) -> None:
    [provider] = listed(admin)
    assert set(provider) == FIELDS
    assert (provider["issuer"], provider["audience"], provider["secret"]) == (issuer, "keepline", "stored")
    assert (provider["for_sign_in"], provider["claim_rules"], provider["disconnected_at"]) == (True, [], None)
    assert provider["redirect_uri"] == f"http://127.0.0.1:{WEB_PORT}/login/callback"
    assert provider["backchannel_logout_uri"] == f"http://127.0.0.1:{WEB_PORT}/logout/backchannel"


def test_one_is_connected_beside_the_other_and_believed(
    admin: Calls, world: World, issuer: str, trail: Callable[[], list[Any]]
) -> None:
    reply = put(admin, issuer, claim_rules=[{"claim": "groups", "value": "ops", "grants": "team", "team": "Ops"}])
    made = reply.get_json()
    assert (reply.status_code, set(made)) == (200, FIELDS)
    assert (made["secret"], made["for_sign_in"], made["scopes"]) == ("none", False, "openid profile email")
    assert made["claim_rules"] == [{"claim": "groups", "value": "ops", "grants": "team", "team": "Ops"}]
    assert made in listed(admin)
    assert own(admin)["for_sign_in"] is True
    assert believed(world, issuer) == {"keepline", "second"}
    assert trail() == [("provider.connect", "provider", made["id"], {"claim_rules": 1}, "user", "demo-console")]


def test_what_is_sent_changes_and_the_rest_stays(admin: Calls, issuer: str, trail: Callable[[], list[Any]]) -> None:
    made = put(admin, issuer, scopes="openid groups").get_json()
    changed = put(admin, issuer, client_id="other").get_json()
    assert changed == {**made, "client_id": "other"}
    assert admin.put(PROVIDERS, {"issuer": issuer, "audience": "second"}).get_json() == changed
    assert [entry[0] for entry in trail()] == ["provider.connect", "provider.change"]


def test_a_claim_tells_two_connections_of_one_audience_apart(admin: Calls, issuer: str) -> None:
    first = put(admin, issuer, claim_name="tid", claim_value="a").get_json()
    second = put(admin, issuer, claim_name="tid", claim_value="b").get_json()
    assert first["id"] != second["id"]
    for claim in ({}, {"claim_name": "hd", "claim_value": "a"}):
        reply = put(admin, issuer, **claim)
        assert (reply.status_code, reply.get_json()["code"]) == (409, "provider_taken")


def test_tokens_of_another_org_can_t_be_claimed_and_nothing_is_said_of_it(
    admin: Calls, stranger_admin: Calls, world: World, trail: Callable[[], list[Any]]
) -> None:
    theirs = f"{world.demo.provider_url}/birch"
    # Another audience as well: a token may name several, and one that fits two orgs would be refused.
    tries: list[dict[str, str]] = [{}, {"claim_name": "tid", "claim_value": "x"}, {"audience": "another"}]
    for tried in tries:
        reply = put(admin, theirs, **{"audience": "keepline", **tried})
        assert (reply.status_code, reply.get_json()["code"]) == (409, "provider_taken")
        assert set(reply.get_json()) == {"type", "title", "status", "detail", "code", "request_id"}
        assert reply.get_json()["detail"] == (
            "This issuer can't be connected here. If it is your organisation's, ask the operator."
        )
    assert [provider["audience"] for provider in listed(admin)] == ["keepline"]
    assert trail() == []
    assert own(stranger_admin)["issuer"] == theirs


def test_an_org_has_at_most_twenty_providers(admin: Calls, world: World, issuer: str) -> None:
    with world.superuser() as connection:
        connection.execute(
            "INSERT INTO app.token_audiences SELECT 'https://' || n, 'a', '' FROM generate_series(1, 19) n"
        )
        connection.execute(
            "INSERT INTO app.providers (org_id, issuer, audience, client_id, for_sign_in, created_at) "
            "SELECT org_id, 'https://' || n, 'a', 'c', false, now() FROM app.orgs, generate_series(1, 19) n "
            "WHERE slug = 'acme'"
        )
    reply = put(admin, issuer)
    assert (reply.status_code, reply.get_json()["code"]) == (409, "too_many_providers")


def test_claim_rules_of_another_shape_are_stored_by_nobody(world: World) -> None:
    """Not even by SQL: what can't be read would stop every token of the issuer."""
    for rules in (
        '[{"grants": "nonsense"}]',
        "[7]",
        '[["x"]]',
        "{}",
        '[{"claim": 1, "value": "", "grants": "admin", "team": ""}]',
    ):
        with world.superuser() as connection, pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("UPDATE app.providers SET claim_rules = %s::jsonb", (rules,))


def test_a_provider_that_nobody_could_sign_in_by_is_not_connected(
    admin: Calls, world: World, trail: Callable[[], list[Any]]
) -> None:
    for unusable in (f"{world.demo.provider_url}/nobody", "http://idp.example", "https://127.0.0.1:1/x", "no address"):
        reply = put(admin, unusable)
        assert (reply.status_code, reply.get_json()["code"]) == (422, "provider_unusable")
        assert any(not finding["ok"] for finding in reply.get_json()["findings"])
        assert all(set(finding) == {"ok", "subject", "sentence"} for finding in reply.get_json()["findings"])
    assert len(listed(admin)) == 1
    assert trail() == []


def test_testing_an_issuer_says_every_point_and_connects_nothing(admin: Calls, world: World, issuer: str) -> None:
    good = admin.post(f"{PROVIDERS}/test", {"issuer": issuer}).get_json()["findings"]
    assert {"Address", "Discovery document", "Issuer", "Keys"} <= {found["subject"] for found in good if found["ok"]}
    bad = admin.post(f"{PROVIDERS}/test", {"issuer": f"{world.demo.provider_url}/nobody"}).get_json()["findings"]
    assert bad[-1]["ok"] is False
    assert admin.post(f"{PROVIDERS}/test", {"issuer": "a\0b"}).status_code == 422
    assert len(listed(admin)) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("issuer", ""), ("issuer", "https://x\0"), ("audience", ""), ("audience", "x" * 501), ("audience", "a\nb"),
        ("client_id", ""), ("client_id", "x" * 201), ("client_secret", ""), ("client_secret", "a\0b"),
        ("client_secret", 7), ("claim_name", "tid"), ("claim_value", "a"), ("scopes", "profile"), ("scopes", ""),
        ("scopes", "openid  email"), ("scopes", 'openid "x"'), ("for_sign_in", 1), ("claim_rules", {}),
        ("secret_name", "OTHER"), ("org_id", MISSING), ("disconnected_at", None),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_before_anything_is_asked(
    admin: Calls, issuer: str, field: str, value: object
) -> None:
    reply = admin.put(PROVIDERS, {"issuer": issuer, "audience": "second", "client_id": "web", field: value})
    assert (reply.status_code, reply.get_json()["code"]) == (422, "invalid_request")
    paired = {"claim_name": "claim_value", "claim_value": "claim_name"}
    assert set(reply.get_json()["errors"]) == {paired.get(field, field)}
    assert len(listed(admin)) == 1


def test_a_new_one_needs_a_client_id(admin: Calls, issuer: str) -> None:
    reply = admin.put(PROVIDERS, {"issuer": issuer, "audience": "second"})
    assert (reply.status_code, set(reply.get_json()["errors"])) == (422, {"client_id"})


def test_a_secret_is_sealed_and_never_seen_again(
    admin: Calls, app: GuardedFlask, issuer: str, world: World, caplog: pytest.LogCaptureFixture,
    trail: Callable[[], list[Any]],
) -> None:  # fmt: skip
    caplog.set_level(0)
    replies = [put(admin, issuer, client_secret=HUSH), put(admin, issuer), admin.get(PROVIDERS)]
    replies += [put(admin, f"{issuer}/no", client_secret=HUSH), put(admin, issuer, client_secret=f"{HUSH}\n")]
    assert [reply.status_code for reply in replies] == [200, 200, 200, 422, 422]
    assert replies[0].get_json()["secret"] == replies[1].get_json()["secret"] == "stored"
    assert all(HUSH not in reply.text for reply in replies)
    assert HUSH not in caplog.text
    assert HUSH not in str(trail())
    [(sealed,)] = world.rows("SELECT client_secret FROM app.providers WHERE audience = 'second'")
    assert HUSH.encode() not in sealed
    assert app.extensions["keepline"].sessions.box.open(sealed) == HUSH.encode()


def test_a_secret_is_replaced_kept_and_taken_away(
    admin: Calls, issuer: str, world: World, trail: Callable[[], list[Any]]
) -> None:
    assert put(admin, issuer, client_secret="first").get_json()["secret"] == "stored"
    assert put(admin, issuer, client_secret="second").get_json()["secret"] == "stored"
    assert put(admin, issuer, client_secret=None).get_json()["secret"] == "none"
    with world.superuser() as connection:
        connection.execute("UPDATE app.providers SET secret_name = 'ACME' WHERE audience = 'second'")
    assert put(admin, issuer).get_json()["secret"] == "server"
    assert [(entry[0], entry[3]) for entry in trail()] == [
        ("provider.connect", {"claim_rules": 0}), ("provider.replace_secret", {"stored": True}),
        ("provider.replace_secret", {"stored": False}),
    ]  # fmt: skip


def test_people_sign_in_by_one_of_them(admin: Calls, issuer: str, trail: Callable[[], list[Any]]) -> None:
    second = put(admin, issuer, for_sign_in=True).get_json()
    assert second["for_sign_in"] is True
    assert own(admin)["for_sign_in"] is False
    reply = put(admin, issuer, for_sign_in=False)
    assert (reply.status_code, reply.get_json()["code"]) == (409, "provider_in_use")
    assert admin.put(PROVIDERS, {"issuer": issuer, "audience": "keepline", "for_sign_in": True}).status_code == 200
    assert [provider["for_sign_in"] for provider in listed(admin)] == [True, False]
    assert [(entry[0], entry[3]) for entry in trail()] == [
        ("provider.connect", {"claim_rules": 0}), ("provider.change", {"for_sign_in": True}),
        ("provider.change", {"for_sign_in": True}),
    ]  # fmt: skip


def test_two_admins_who_choose_at_once_leave_one_for_signing_in(app: GuardedFlask, admin: Calls, issuer: str) -> None:
    put(admin, issuer)
    put(admin, issuer, audience="third")

    def choose(audience: str) -> int:
        calls = Calls(app.test_client(), admin.token)
        return int(put(calls, issuer, audience=audience, for_sign_in=True).status_code)

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(choose, ["second", "third"] * 6)) == {200}
    assert sum(provider["for_sign_in"] for provider in listed(admin)) == 1


def test_who_chooses_second_waits_and_then_takes_the_place_of_the_first(
    admin: Calls, world: World, issuer: str
) -> None:
    """Without the wait, the second would not see what the first chose, and the database would refuse it."""
    identity = Person(world, "admin").identity
    author = Author(Writer.USER, "test", "test")
    ids = [UUID(put(admin, issuer, audience=audience).get_json()["id"]) for audience in ("second", "third")]

    def choose(provider_id: UUID) -> None:
        with world.services.binder.bound(identity) as connection:
            use_for_sign_in(connection, identity, author, provider_id)

    with ThreadPoolExecutor(1) as thread:
        with world.services.binder.bound(identity) as connection:
            use_for_sign_in(connection, identity, author, ids[0])
            second = thread.submit(choose, ids[1])
            while not (second.done() or world.rows("SELECT FROM pg_locks WHERE NOT granted")):
                pass
        second.result()
    assert [provider["for_sign_in"] for provider in listed(admin)] == [False, False, True]


def test_one_that_does_not_answer_is_not_chosen_for_signing_in(admin: Calls, issuer: str, world: World) -> None:
    put(admin, issuer)
    with world.superuser() as connection:
        connection.execute(
            "INSERT INTO app.token_audiences VALUES (%s, 'gone', '')", (f"{world.demo.provider_url}/gone",)
        )
        connection.execute(
            "UPDATE app.providers SET issuer = %s, audience = 'gone' WHERE audience = 'second'",
            (f"{world.demo.provider_url}/gone",),
        )
    reply = put(admin, f"{world.demo.provider_url}/gone", audience="gone", for_sign_in=True)
    assert (reply.status_code, reply.get_json()["code"]) == (422, "provider_unusable")
    assert own(admin)["for_sign_in"] is True


def test_one_is_disconnected_and_connected_again(
    admin: Calls, world: World, issuer: str, trail: Callable[[], list[Any]]
) -> None:
    made = put(admin, issuer).get_json()
    gone = admin.post(f"{PROVIDERS}/{made['id']}/disconnect").get_json()
    assert gone == {**made, "disconnected_at": gone["disconnected_at"]}
    assert gone["disconnected_at"].endswith("Z")
    assert admin.post(f"{PROVIDERS}/{made['id']}/disconnect").get_json() == gone
    assert believed(world, issuer) == {"keepline"}
    assert put(admin, issuer).get_json() == made
    assert [entry[0] for entry in trail()] == ["provider.connect", "provider.disconnect", "provider.connect"]


def test_the_one_that_the_caller_or_the_people_sign_in_by_is_not_disconnected(admin: Calls, issuer: str) -> None:
    first = own(admin)
    second = put(admin, issuer).get_json()
    reply = admin.post(f"{PROVIDERS}/{first['id']}/disconnect")
    assert (reply.status_code, reply.get_json()["code"]) == (409, "provider_in_use")
    assert put(admin, issuer, for_sign_in=True).status_code == 200
    for provider in (first, second):
        reply = admin.post(f"{PROVIDERS}/{provider['id']}/disconnect")
        assert (reply.status_code, reply.get_json()["code"]) == (409, "provider_in_use")
    assert all(provider["disconnected_at"] is None for provider in listed(admin))


def test_another_org_s_provider_is_answered_like_a_missing_one(
    admin: Calls, stranger_admin: Calls, issuer: str
) -> None:
    made = put(admin, issuer).get_json()
    foreign = stranger_admin.post(f"{PROVIDERS}/{made['id']}/disconnect")
    missing = stranger_admin.post(f"{PROVIDERS}/{MISSING}/disconnect")
    assert foreign.status_code == missing.status_code == 404
    reference = foreign.get_json()["request_id"].encode()
    assert foreign.data.replace(reference, missing.get_json()["request_id"].encode()) == missing.data
    assert made["id"] not in {provider["id"] for provider in listed(stranger_admin)}
    assert made in listed(admin)
    assert admin.post(f"{PROVIDERS}/{made['id']}/disconnect").status_code == 200


def test_the_list_is_read_page_by_page(admin: Calls, issuer: str) -> None:
    put(admin, issuer)
    first = admin.get(f"{PROVIDERS}?limit=1").get_json()
    second = admin.get(f"{PROVIDERS}?limit=1&cursor={first['next_cursor']}").get_json()
    assert [provider["audience"] for provider in first["items"] + second["items"]] == ["keepline", "second"]
    assert second["next_cursor"] is None
    assert admin.get(f"/v1/org/clients?cursor={first['next_cursor']}").status_code == 422
