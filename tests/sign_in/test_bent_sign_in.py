"""A sign-in through a provider that bends the protocol ends nowhere: no session, no user, a readable refusal."""

import time
from typing import Any

import pytest
from bendable_provider import WEB_CLIENT, BendableProvider, signed_with_the_public_key, unsigned
from flask import jsonify, make_response
from joserfc.jwk import RSAKey

from tenancy.guards import GuardedFlask
from tests.world import World


def users_of_provider(world: World, provider: BendableProvider) -> int:
    return int(world.rows("SELECT count(*) FROM app.users WHERE issuer = %s", provider.issuer)[0][0])


def refused(
    world: World, app: GuardedFlask, provider: BendableProvider, *, status: int = 400, **answer: str | None
) -> None:
    before = users_of_provider(world, provider)
    browser, reply = provider.sign_in(app, **answer)
    assert reply.status_code == status, reply.text
    assert 'id="error-sentence"' in reply.text
    assert browser.get("/settings/memory").status_code == 302
    assert users_of_provider(world, provider) == before
    assert world.rows("SELECT count(*) FROM app.web_sessions") == [(0,)]


def test_the_straight_provider_signs_in_so_that_the_refusals_below_mean_something(
    provider: BendableProvider, app: GuardedFlask
) -> None:
    browser, reply = provider.sign_in(app)
    assert (reply.status_code, reply.headers["Location"]) == (302, "/settings/memory")
    assert browser.get("/settings/memory").status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"aud": "another-client"},
        {"aud": [WEB_CLIENT, "another-client"]},
        {"aud": [WEB_CLIENT, "another-client"], "azp": "another-client"},
        {"aud": "another-client", "azp": WEB_CLIENT},
        {"azp": "another-client"},
        {"aud": None},
        {"aud": {WEB_CLIENT: True}},
        {"nonce": "wrong"},
        {"nonce": None},
        {"nonce": "n\u00f8nce"},
        {"nonce": ["list"]},
        {"sub": ""},
        {"sub": None},
        {"sub": 7},
        {"sub": "s" * 256},
        {"sub": "nul\0"},
        {"iss": "https://other.example"},
        {"iss": None},
        {"iat": None},
        {"exp": None},
        {"exp": int(time.time()) - 60},
        {"exp": 10**400},
        {"iat": int(time.time()) + 86_400},
        {"nbf": int(time.time()) + 86_400},
        {"tenant": None},
        {"tenant": "elm"},
        {"tenant": ["cedar"]},
        {"sub": "half-\ud83d"},
        {"teams": ["half-\ud83d"]},
    ],
    ids=repr,
)
def test_an_id_token_that_is_not_for_this_sign_in_is_refused(
    change: dict[str, Any], world: World, provider: BendableProvider, app: GuardedFlask
) -> None:
    provider.id_claims = change
    refused(world, app, provider)


def test_an_audience_list_with_our_own_authorized_party_signs_in(provider: BendableProvider, app: GuardedFlask) -> None:
    provider.id_claims = {"aud": [WEB_CLIENT, "another-client"], "azp": WEB_CLIENT}
    assert provider.sign_in(app)[1].status_code == 302


def test_an_unsigned_id_token_is_refused(world: World, provider: BendableProvider, app: GuardedFlask) -> None:
    provider.discovery = {"id_token_signing_alg_values_supported": ["none"]}
    now = int(time.time())
    claims = {"iss": provider.issuer, "sub": "u-7", "aud": WEB_CLIENT, "iat": now, "exp": now + 300, "tenant": "cedar"}
    provider.id_token = unsigned(claims)
    refused(world, app, provider)
    provider.id_token = signed_with_the_public_key(provider, claims)
    refused(world, app, provider)


def test_a_signature_of_another_key_is_refused_whatever_the_header_says(
    world: World, provider: BendableProvider, app: GuardedFlask
) -> None:
    mallory = RSAKey.generate_key(2048, auto_kid=True)
    for header in ({}, {"kid": provider.key.kid}, {"kid": None}, {"jwk": mallory.as_dict(private=False)}):
        provider.id_header, provider.id_key = header, mallory
        refused(world, app, provider)


@pytest.mark.parametrize(
    "content",
    ['{"access_token": "x", "token_type": "Bearer"}', '{"id_token": 5}', '{"id_token": "a.b.c"}', "[]", "5", "not"],
)
def test_a_token_reply_without_a_usable_id_token_is_refused(
    content: str, world: World, provider: BendableProvider, app: GuardedFlask
) -> None:
    provider.token_reply = make_response_of(app, content)
    before = users_of_provider(world, provider)
    browser, reply = provider.sign_in(app)
    assert reply.status_code in (400, 503), reply.text
    assert browser.get("/settings/memory").status_code == 302
    assert users_of_provider(world, provider) == before


def test_a_token_reply_with_an_error_is_refused(world: World, provider: BendableProvider, app: GuardedFlask) -> None:
    with app.test_request_context():
        provider.token_reply = make_response(jsonify(error="invalid_grant"), 400)
    refused(world, app, provider)


def test_an_endless_token_reply_is_cut_off(world: World, provider: BendableProvider, app: GuardedFlask) -> None:
    provider.token_reply = make_response_of(app, '{"id_token": "' + "x" * 3_000_000 + '"}')
    refused(world, app, provider, status=503)


@pytest.mark.parametrize("named", [None, "https://other.example", ""])
def test_an_answer_that_names_another_issuer_is_refused_before_its_code_is_spent(
    named: str | None, world: World, provider: BendableProvider, app: GuardedFlask
) -> None:
    refused(world, app, provider, iss=named)
    assert provider.exchanges == []


def test_the_issuer_may_be_missing_only_where_the_provider_never_promised_it(
    world: World, provider: BendableProvider, app: GuardedFlask
) -> None:
    provider.discovery = {"authorization_response_iss_parameter_supported": None}
    refused(world, app, provider, iss="https://other.example")
    assert provider.sign_in(app, iss=None)[1].status_code == 302


def test_an_error_or_a_missing_code_is_refused(world: World, provider: BendableProvider, app: GuardedFlask) -> None:
    refused(world, app, provider, code=None)
    refused(world, app, provider, error="access_denied")
    assert provider.exchanges == []


def make_response_of(app: GuardedFlask, content: str) -> Any:
    return app.response_class(content, mimetype="application/json")
