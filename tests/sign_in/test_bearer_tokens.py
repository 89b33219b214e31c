"""Access tokens: what is believed, what is refused with 401, and that a refused one makes no user."""

import time
from typing import Any

import pytest
from bendable_provider import (
    ASSISTANT,
    AUDIENCE,
    CONSOLE,
    WEB_CLIENT,
    BendableProvider,
    signed_with_the_public_key,
    unsigned,
)
from joserfc.jwk import RSAKey
from werkzeug.test import TestResponse

from tenancy.bearer import TOKEN_CHARACTERS_AT_MOST
from tenancy.guards import GuardedFlask
from tests.cast import Cast
from tests.world import World

BLOCK = "/v1/memory/block"


def read_block(app: GuardedFlask, token: str) -> TestResponse:
    return app.test_client().get(BLOCK, headers={"Authorization": f"Bearer {token}"})


def users_of(world: World, provider: BendableProvider) -> int:
    return int(world.rows("SELECT count(*) FROM app.users WHERE issuer = %s", provider.issuer)[0][0])


def test_a_proper_access_token_is_believed_so_that_the_refusals_below_mean_something(
    app: GuardedFlask, provider: BendableProvider
) -> None:
    assert read_block(app, provider.access_token()).status_code == 200
    assert read_block(app, provider.access_token({"typ": "application/at+jwt"}, sub="u-8")).status_code == 200
    assert read_block(app, provider.access_token(aud=["other", AUDIENCE], sub="u-9")).status_code == 200


NOW = int(time.time())
BENT_CLAIMS: list[dict[str, Any]] = [
    {"aud": "another-api"},
    {"aud": WEB_CLIENT},
    {"aud": None},
    {"aud": [AUDIENCE, 5]},
    {"aud": {AUDIENCE: 1}},
    {"exp": NOW - 60},
    {"exp": None},
    {"exp": "soon"},
    {"exp": 10**400},
    {"iat": None},
    {"iat": -1e300},
    {"iat": -1},
    {"nbf": NOW + 3600},
    {"nbf": -1e300},
    {"auth_time": -1e300},
    {"auth_time": 1e300},
    {"iss": "https://other.example"},
    {"iss": None},
    {"iss": ["list"]},
    {"iss": "nul\0"},
    {"iss": "half-\ud83d"},
    {"sub": None},
    {"sub": ""},
    {"sub": "nul\0"},
    {"sub": "half-\ud83d"},
    {"sub": "s" * 5_000},
    {"name": "half-\ud83d"},
    {"teams": ["half-\ude00"]},
    {"client_id": None},
    {"client_id": "nul\0"},
    {"client_id": "half-\ud83d"},
    {"client_id": 5},
    {"client_id": ASSISTANT, "azp": CONSOLE},
    {"tenant": None},
    {"tenant": "oak"},
    {"tenant": ["cedar"]},
]


@pytest.mark.parametrize("change", BENT_CLAIMS, ids=repr)
def test_a_token_that_is_not_for_us_is_refused_and_makes_no_user(
    change: dict[str, Any], world: World, app: GuardedFlask, provider: BendableProvider
) -> None:
    before = users_of(world, provider)
    reply = read_block(app, provider.access_token(**{"sub": "somebody-new", **change}))
    assert (reply.status_code, reply.get_json()["code"]) == (401, "not_signed_in")
    assert 'error="invalid_token"' in reply.headers["WWW-Authenticate"]
    assert 'resource_metadata="http' in reply.headers["WWW-Authenticate"]
    assert users_of(world, provider) == before


@pytest.mark.parametrize("typ", ["JWT", "jwt", None, "at+jwt;x", "logout+jwt", 5, ["at+jwt"]])
def test_only_an_access_token_is_a_bearer(typ: Any, app: GuardedFlask, provider: BendableProvider) -> None:
    assert read_block(app, provider.access_token({"typ": typ}, sub="typed")).status_code == 401


def test_an_id_token_is_no_bearer(app: GuardedFlask, provider: BendableProvider) -> None:
    assert read_block(app, provider.sign_id_token()).status_code == 401
    same_audience = provider.sign({"aud": AUDIENCE, "client_id": ASSISTANT, "nonce": "n"})
    assert read_block(app, same_audience).status_code == 401


def test_no_signature_or_another_key_s_is_refused(app: GuardedFlask, provider: BendableProvider) -> None:
    claims = {
        "iss": provider.issuer, "sub": "u-7", "aud": AUDIENCE, "client_id": ASSISTANT,
        "iat": NOW, "exp": NOW + 3600, "tenant": "cedar",
    }  # fmt: skip
    mallory = RSAKey.generate_key(2048, auto_kid=True)
    good = provider.access_token()
    tokens = [
        unsigned(claims),
        signed_with_the_public_key(provider, claims, "at+jwt"),
        provider.access_token(key=mallory),
        provider.access_token({"kid": provider.key.kid}, key=mallory),
        provider.access_token({"jwk": mallory.as_dict(private=False)}, key=mallory),
        good[:-6] + ("AAAAAA" if not good.endswith("AAAAAA") else "BBBBBB"),
        good.rsplit(".", 1)[0] + ".",
        provider.access_token({"crit": ["exp"]}),
    ]
    assert [read_block(app, token).status_code for token in tokens] == [401] * len(tokens)


def test_the_issuer_of_one_org_opens_nothing_of_another(
    world: World, cast: Cast, app: GuardedFlask, provider: BendableProvider
) -> None:
    """The owner's subject and issuer in a token that another provider signed."""
    cast.owner.assistant.write("The owner's line.")
    owner = world.rows("SELECT issuer, subject FROM app.users WHERE id = %s", cast.owner.user_id)[0]
    forged = provider.access_token(iss=owner[0], sub=owner[1], aud="keepline", client_id="demo-assistant")
    assert read_block(app, forged).status_code == 401
    same_subject = read_block(app, provider.access_token(sub=owner[1]))
    assert (same_subject.status_code, same_subject.get_json()["text"]) == (200, "")


def test_two_orgs_of_one_issuer_are_told_apart_by_their_claim(app: GuardedFlask, provider: BendableProvider) -> None:
    """The same subject in both orgs is two people."""
    cedar, elm = (provider.access_token(sub="twin", tenant=tenant) for tenant in ("cedar", "elm"))
    saved = app.test_client().put(BLOCK, json={"text": "In cedar."}, headers={"Authorization": f"Bearer {cedar}"})
    assert saved.status_code == 200
    assert read_block(app, cedar).get_json()["text"] == "In cedar."
    assert read_block(app, elm).get_json()["text"] == ""


@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer ", "Basic dTpw", "bearer x.y.z", "Bearer a.b", "Bearer \xff.\xff.\xff", "Bearer " + "." * 5,
     "Bearer " + "x" * (TOKEN_CHARACTERS_AT_MOST + 1), "Bearer e30.W10.e30", "Bearer e30.NQ.e30", "Token x"],
)  # fmt: skip
def test_garbage_in_the_header_is_refused(header: str, app: GuardedFlask) -> None:
    reply = app.test_client().get(BLOCK, headers={"Authorization": header})
    assert (reply.status_code, reply.get_json()["code"]) == (401, "not_signed_in")


def test_a_token_is_too_long_only_past_the_limit(app: GuardedFlask, provider: BendableProvider) -> None:
    assert read_block(app, provider.access_token(padding="x" * 9_000)).status_code == 200
    assert read_block(app, provider.access_token(padding="x" * TOKEN_CHARACTERS_AT_MOST)).status_code == 401


def test_a_callers_token_is_sent_to_nobody(app: GuardedFlask, provider: BendableProvider) -> None:
    """Reading the provider's keys for it is all that it causes there."""
    token = provider.access_token()
    assert app.test_client().get(BLOCK, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert len(provider.asked) >= 2  # the discovery document and the keys
    assert not any(token in request for request in provider.asked)
