"""What a role allows needs a token of the last 15 minutes; a person's own memory does not."""

import time

import pytest
from bendable_provider import ASSISTANT, CONSOLE, BendableProvider
from werkzeug.test import TestResponse

from tenancy.guards import GuardedFlask
from tenancy.identity import Role

YOUNG, OLD = 880, 915
POLICY, BLOCK = "/v1/org/policy", "/v1/memory/block"


def _get(app: GuardedFlask, path: str, token: str) -> TestResponse:
    return app.test_client().get(path, headers={"Authorization": f"Bearer {token}"})


def _token(provider: BendableProvider, age: int, client: str = CONSOLE, **claims: object) -> str:
    now = int(time.time())
    return provider.access_token(client_id=client, iat=now - age, exp=now + 3600, roles=["admin"], **claims)


def test_a_young_token_holds_what_its_roles_allow(app: GuardedFlask, provider: BendableProvider) -> None:
    assert _get(app, POLICY, _token(provider, YOUNG)).status_code == 200


def test_an_old_token_is_asked_to_be_renewed(app: GuardedFlask, provider: BendableProvider) -> None:
    reply = _get(app, POLICY, _token(provider, OLD))
    assert (reply.status_code, reply.get_json()["code"]) == (401, "token_too_old")
    challenge = reply.headers["WWW-Authenticate"]
    assert 'error="insufficient_user_authentication"' in challenge
    assert "max_age=900" in challenge


def test_an_old_token_still_opens_ones_own_memory(app: GuardedFlask, provider: BendableProvider) -> None:
    assert _get(app, BLOCK, _token(provider, OLD)).status_code == 200


def test_an_old_token_without_the_role_simply_lacks_the_scope(app: GuardedFlask, provider: BendableProvider) -> None:
    now = int(time.time())
    token = provider.access_token(client_id=CONSOLE, iat=now - OLD, exp=now + 3600)
    reply = _get(app, POLICY, token)
    assert (reply.status_code, reply.get_json()["code"]) == (403, "scope_missing")


def test_an_assistant_never_holds_it_however_young_its_token(app: GuardedFlask, provider: BendableProvider) -> None:
    reply = _get(app, POLICY, _token(provider, 0, ASSISTANT))
    assert (reply.status_code, reply.get_json()["code"]) == (403, "scope_missing")


@pytest.mark.parametrize(
    ("age", "client", "roles"), [(YOUNG, CONSOLE, Role.ADMIN), (OLD, CONSOLE, Role.NONE), (0, ASSISTANT, Role.NONE)]
)
def test_the_database_is_told_no_role_either(
    app: GuardedFlask, provider: BendableProvider, age: int, client: str, roles: Role
) -> None:
    token = _token(provider, age, client)
    with app.app_context():
        identity = app.extensions["keepline"].bearer_tokens.authenticate(token, "test").identity
    assert (identity.roles, identity.led_team_ids) == (roles, ())
