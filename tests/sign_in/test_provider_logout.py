"""Signing out at the identity provider ends sessions here and refuses what was issued before, at once."""

import time
from typing import Any

import pytest
from bendable_provider import ASSISTANT, AUDIENCE, WEB_CLIENT, BendableProvider
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tenancy.guards import GuardedFlask
from tests.world import World

EVENTS = {"http://schemas.openid.net/event/backchannel-logout": {}}
BLOCK = "/v1/memory/block"


def _logout_token(provider: BendableProvider, header: dict[str, Any] | None = None, **claims: Any) -> str:
    everything = {"aud": WEB_CLIENT, "jti": f"jti-{time.monotonic_ns()}", "events": EVENTS, "tenant": None, **claims}
    return provider.sign(everything, {"typ": "logout+jwt", **(header or {})})


def _send(app: GuardedFlask, token: str) -> TestResponse:
    return app.test_client().post("/logout/backchannel", data={"logout_token": token})


def _session(provider: BendableProvider, app: GuardedFlask, **claims: Any) -> FlaskClient:
    provider.id_claims = claims
    browser, answer = provider.sign_in(app)
    assert answer.status_code == 302, answer.text
    assert browser.get("/settings/memory").status_code == 200
    return browser


def _is_signed_in(browser: FlaskClient) -> bool:
    return browser.get("/settings/memory").status_code == 200


def _call(app: GuardedFlask, token: str) -> int:
    return app.test_client().get(BLOCK, headers={"Authorization": f"Bearer {token}"}).status_code


def test_by_subject_every_session_ends_and_older_tokens_are_refused_at_once(
    app: GuardedFlask, provider: BendableProvider, world: World
) -> None:
    one, two, other = (
        _session(provider, app, sid="a"), _session(provider, app, sid="b"), _session(provider, app, sub="u-8", sid="c"),
    )  # fmt: skip
    earlier = int(time.time()) - 5
    old, others = provider.access_token(iat=earlier), provider.access_token(iat=earlier, sub="u-8")
    with world.another_app() as elsewhere:  # another process, which remembers the token as good
        assert (_call(app, old), _call(elsewhere, old), _call(app, others)) == (200, 200, 200)
        answer = _send(app, _logout_token(provider))
        assert (answer.status_code, answer.data, answer.headers["Cache-Control"]) == (200, b"", "private, no-store")
        assert (_is_signed_in(one), _is_signed_in(two), _is_signed_in(other)) == (False, False, True)
        assert (_call(app, old), _call(elsewhere, old), _call(app, others)) == (401, 401, 200)
        assert _call(app, provider.access_token(iat=int(time.time()) + 2)) == 200


def test_by_the_providers_session_that_one_ends_and_its_subjects_older_tokens_are_refused(
    app: GuardedFlask, provider: BendableProvider
) -> None:
    one, two = _session(provider, app, sid="a"), _session(provider, app, sid="b")
    old = provider.access_token(iat=int(time.time()) - 5)
    assert _call(app, old) == 200
    assert _send(app, _logout_token(provider, sub=None, sid="a")).status_code == 200
    assert (_is_signed_in(one), _is_signed_in(two)) == (False, True)
    assert _call(app, old) == 401


def test_subject_and_session_together_leave_the_other_session(app: GuardedFlask, provider: BendableProvider) -> None:
    one, two = _session(provider, app, sid="a"), _session(provider, app, sid="b")
    assert _send(app, _logout_token(provider, sid="b")).status_code == 200
    assert (_is_signed_in(one), _is_signed_in(two)) == (True, False)


def test_a_session_whose_provider_named_none_ends_with_its_subject(
    app: GuardedFlask, provider: BendableProvider
) -> None:
    browser = _session(provider, app)
    assert _send(app, _logout_token(provider, sid="a")).status_code == 200
    assert not _is_signed_in(browser)


def test_a_logout_token_works_once(app: GuardedFlask, provider: BendableProvider) -> None:
    token = _logout_token(provider)
    assert _send(app, token).status_code == 200
    browser = _session(provider, app)
    answer = _send(app, token)
    assert answer.status_code == 400
    assert "used before" in answer.text
    assert _is_signed_in(browser)


def test_a_session_that_is_unknown_here_is_no_error(app: GuardedFlask, provider: BendableProvider) -> None:
    assert _send(app, _logout_token(provider, sub="nobody here")).status_code == 200
    assert _send(app, _logout_token(provider, sub=None, sid="unknown")).status_code == 200


@pytest.mark.parametrize(
    ("header", "claims"),
    [
        ({}, {"events": None}),
        ({}, {"events": {"http://schemas.openid.net/event/other": {}}}),
        ({}, {"events": {"http://schemas.openid.net/event/backchannel-logout": "yes"}}),
        ({}, {"nonce": "n"}),
        ({}, {"jti": None}),
        ({}, {"sub": None}),
        ({}, {"sub": 7}),
        ({}, {"aud": "another-client"}),
        ({}, {"iss": "https://elsewhere.example"}),
        ({}, {"iat": int(time.time()) - 3600}),
        ({}, {"iat": int(time.time()) + 3600}),
        ({}, {"exp": int(time.time()) - 60}),
        ({"typ": "at+jwt"}, {}),
        ({"typ": "logout+jwt", "alg": "none"}, {}),
    ],
)
def test_a_token_that_is_no_logout_token_signs_nobody_out(
    app: GuardedFlask, provider: BendableProvider, header: dict[str, Any], claims: dict[str, Any]
) -> None:
    browser = _session(provider, app)
    assert _send(app, _logout_token(provider, header, **claims)).status_code == 400
    assert _is_signed_in(browser)
    assert _send(app, _logout_token(provider)).status_code == 200
    assert not _is_signed_in(browser)


@pytest.mark.parametrize("body", [{}, {"logout_token": ""}, {"logout_token": "a.b.c"}, {"logout_token": "x" * 20_000}])
def test_a_body_without_a_token_is_refused(app: GuardedFlask, body: dict[str, str]) -> None:
    answer = app.test_client().post("/logout/backchannel", data=body)
    assert answer.status_code == 400


def test_a_wrong_signature_signs_nobody_out(app: GuardedFlask, provider: BendableProvider) -> None:
    browser = _session(provider, app)
    token = _logout_token(provider)
    head, body, signature = token.split(".")
    assert _send(app, f"{head}.{body}.{signature[:-8]}AAAAAAAA").status_code == 400
    assert _is_signed_in(browser)


def test_an_id_or_access_token_is_no_logout_token(app: GuardedFlask, provider: BendableProvider) -> None:
    browser = _session(provider, app)
    for token in (provider.sign_id_token(), provider.access_token(), provider.access_token(aud=[AUDIENCE, WEB_CLIENT])):
        assert _send(app, token).status_code == 400
    assert _is_signed_in(browser)


def test_the_trail_tells_of_it(app: GuardedFlask, provider: BendableProvider, world: World) -> None:
    _session(provider, app)
    assert _send(app, _logout_token(provider)).status_code == 200
    entries = world.rows(
        "SELECT writer, client, counts ->> 'sessions', actor_id FROM app.audit_events "
        "WHERE action = 'session.end_by_provider'"
    )
    assert entries == [("system", "identity provider", "1", None)]


def test_the_other_org_of_the_issuer_is_left_alone_where_the_token_names_one(
    app: GuardedFlask, provider: BendableProvider
) -> None:
    """cedar and elm share issuer and client and are told apart by the claim `tenant`."""
    browser = _session(provider, app)
    assert _send(app, _logout_token(provider, tenant="elm")).status_code == 200
    assert _is_signed_in(browser)
    assert _call(app, provider.access_token(client_id=ASSISTANT, iat=int(time.time()) - 5)) == 200
    assert _send(app, _logout_token(provider, tenant="cedar")).status_code == 200
    assert not _is_signed_in(browser)
