"""The client of a token: registered or not, its kind, its scopes, and that a revoked one is soon refused."""

import time
from typing import Any

import pytest
from bendable_provider import ASSISTANT, CONSOLE, BendableProvider
from werkzeug.test import TestResponse

from tenancy.clients import ASSISTANT_SCOPES
from tenancy.guards import GuardedFlask
from tests.cast import Cast
from tests.world import World

BLOCK = "/v1/memory/block"


def call(app: GuardedFlask, method: str, token: str, body: object = None) -> TestResponse:
    return app.test_client().open(BLOCK, method=method, json=body, headers={"Authorization": f"Bearer {token}"})


def test_a_client_that_nobody_registered_is_told_so_and_makes_no_user(
    world: World, app: GuardedFlask, provider: BendableProvider
) -> None:
    reply = call(app, "GET", provider.access_token(sub="unseen", client_id="rogue"))
    assert (reply.status_code, reply.get_json()["code"]) == (403, "client_unknown")
    assert reply.get_json()["client_id"] == "rogue"
    assert world.rows("SELECT count(*) FROM app.users WHERE subject = 'unseen'") == [(0,)]


def test_a_client_of_another_org_is_unknown_in_this_one(app: GuardedFlask, provider: BendableProvider) -> None:
    assert call(app, "GET", provider.access_token(client_id="demo-assistant")).status_code == 403


def test_the_client_may_be_named_by_either_claim(app: GuardedFlask, provider: BendableProvider) -> None:
    assert call(app, "GET", provider.access_token(client_id=None, azp=ASSISTANT)).status_code == 200
    assert call(app, "GET", provider.access_token(client_id=ASSISTANT, azp=ASSISTANT, sub="b")).status_code == 200


def test_the_kind_decides_whose_words_are_written(app: GuardedFlask, provider: BendableProvider) -> None:
    for client_id, writer in ((ASSISTANT, "model"), (CONSOLE, "user")):
        token = provider.access_token(client_id=client_id)
        assert call(app, "PUT", token, {"text": f"By {client_id}."}).status_code == 200
        assert call(app, "GET", token).get_json()["updated_by"] == {"writer": writer, "client": client_id}


def test_an_assistant_never_manages_whatever_roles_its_user_has(app: GuardedFlask, provider: BendableProvider) -> None:
    roles = ["admin", "reviewer", "lead:Operations"]
    reply = call(app, "DELETE", provider.access_token(roles=roles))
    assert (reply.status_code, reply.get_json()["code"]) == (403, "scope_missing")
    assert reply.get_json()["scope"] == "memory:manage"
    assert call(app, "DELETE", provider.access_token(client_id=CONSOLE)).status_code == 200


def test_scopes_in_the_token_give_nothing(app: GuardedFlask, provider: BendableProvider) -> None:
    reply = call(app, "DELETE", provider.access_token(scope="memory:manage org:admin", scopes=["memory:manage"]))
    assert reply.status_code == 403


def test_a_client_registered_to_read_cannot_write(world: World, app: GuardedFlask, provider: BendableProvider) -> None:
    with world.superuser() as connection:
        connection.execute("UPDATE app.clients SET scopes = '{memory:read}' WHERE client_id = %s", (ASSISTANT,))
    token = provider.access_token(sub="reader")
    written = call(app, "PUT", token, {"text": "x"})
    read = call(app, "GET", token)
    with world.superuser() as connection:
        connection.execute(
            "UPDATE app.clients SET scopes = %s WHERE client_id = %s", (sorted(ASSISTANT_SCOPES), ASSISTANT)
        )
    assert (written.status_code, written.get_json()["scope"]) == (403, "memory:write")
    assert (read.status_code, read.get_json()["exists"]) == (200, False)


def test_a_revoked_client_is_refused_within_5_seconds(
    world: World, app: GuardedFlask, provider: BendableProvider
) -> None:
    token = provider.access_token()
    assert call(app, "GET", token).status_code == 200
    with world.superuser() as connection:
        connection.execute("UPDATE app.clients SET revoked_at = now() WHERE client_id = %s", (ASSISTANT,))
    revoked, status = time.monotonic(), 200
    while status == 200 and time.monotonic() - revoked < 5.5:
        time.sleep(0.2)
        status = call(app, "GET", token).status_code
    with world.superuser() as connection:
        connection.execute("UPDATE app.clients SET revoked_at = NULL WHERE client_id = %s", (ASSISTANT,))
    assert status == 403


@pytest.mark.parametrize(
    "claims", [{"roles": "admin"}, {"roles": {"admin": True}}, {"teams": 5}, {"roles": [[], None]}]
)
def test_claims_of_the_wrong_type_give_no_role(
    claims: dict[str, Any], app: GuardedFlask, provider: BendableProvider
) -> None:
    assert call(app, "GET", provider.access_token(**claims)).status_code == 200


def test_org_and_user_come_from_the_token_and_from_nowhere_else(world: World, cast: Cast) -> None:
    """Naming the owner in path, query, header or body changes nothing for a stranger."""
    cast.owner.assistant.write("The owner's line.")
    owner = cast.owner.identity
    named = {"org_id": str(owner.org_id), "user_id": str(owner.user_id)}
    headers = {"X-Org-Id": named["org_id"], "X-User-Id": named["user_id"], "Cookie": f"user_id={named['user_id']}"}
    assert cast.stranger.assistant.get(BLOCK, headers=headers).get_json()["exists"] is False
    refused = cast.stranger.assistant.get(BLOCK, query_string=named, headers=headers)
    assert (refused.status_code, refused.get_json()["code"]) == (422, "invalid_request")
    for field, value in {**named, "role": "admin", "visibility": "org", "writer": "user"}.items():
        assert cast.stranger.assistant.write("x", **{field: value}).status_code == 422
    assert world.rows("SELECT text FROM app.blocks") == [("The owner's line.",)]
