"""Discovery documents and keys that are not what they should be: nobody signs in, and nothing breaks."""

from typing import Any

import pytest
from bendable_provider import BendableProvider, published_keys
from flask import Response
from joserfc.jwk import RSAKey

from tenancy.guards import GuardedFlask
from tests.clocked import ClockedApp

BLOCK = "/v1/memory/block"


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": None},
        {"issuer": "https://other.example"},
        {"issuer": 5},
        {"issuer": ""},
        {"issuer": "https://login.example/{tenantid}/v2.0"},
        {"token_endpoint": None},
        {"jwks_uri": "http://169.254.169.254/keys"},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "http://[broken"},
        {"token_endpoint": ["https://other.example"]},
    ],
    ids=repr,
)
def test_a_discovery_document_that_does_not_fit_is_not_used(
    change: dict[str, Any], provider: BendableProvider, app: GuardedFlask
) -> None:
    provider.discovery = change
    browser, reply = provider.sign_in(app)
    assert reply.status_code == 503, reply.text
    assert "Retry-After" in reply.headers
    assert provider.exchanges == []
    assert browser.get("/settings/memory").status_code == 302


def test_an_issuer_with_another_ending_is_another_issuer(provider: BendableProvider, app: GuardedFlask) -> None:
    provider.discovery = {"issuer": f"{provider.issuer}/"}
    assert provider.sign_in(app)[1].status_code == 503


@pytest.mark.parametrize(
    ("content", "status"),
    [("[]", 200), ("not json", 200), ("[" * 100_000, 200), ("{}", 500), ("x" * 3_000_000, 200), ("{}", 302)],
    ids=["list", "garbage", "deep", "error", "huge", "redirect"],
)
def test_a_broken_discovery_answer_is_not_used(
    content: str, status: int, provider: BendableProvider, app: GuardedFlask
) -> None:
    provider.discovery_reply = Response(content, status, {"Location": f"{provider.issuer}/other"})
    assert provider.sign_in(app)[1].status_code == 503


def test_a_provider_that_was_out_of_order_is_asked_again_after_three_seconds(
    provider: BendableProvider, clocked: ClockedApp
) -> None:
    provider.discovery_reply = Response("{}", 500)
    assert provider.sign_in(clocked.app)[1].status_code == 503
    provider.discovery_reply = None
    assert provider.sign_in(clocked.app)[1].status_code == 503
    clocked.move(3)
    assert provider.sign_in(clocked.app)[1].status_code == 302


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"keys": 5}', '{"keys": [5]}', '{"keys": [{"kty": "RSA"}]}', '{"keys": []}', "x"]
)
def test_keys_that_cannot_be_read_let_nobody_in(content: str, provider: BendableProvider, app: GuardedFlask) -> None:
    provider.keys_reply = Response(content, mimetype="application/json")
    assert provider.sign_in(app)[1].status_code == 503
    reply = app.test_client().get(BLOCK, headers=bearer(provider.access_token()))
    assert (reply.status_code, reply.get_json()["code"]) == (503, "provider_unavailable")


def test_a_rotated_key_is_believed_without_a_restart_and_the_old_one_no_longer(
    provider: BendableProvider, clocked: ClockedApp
) -> None:
    assert read_block(clocked.app, provider.access_token()) == 200
    late = provider.access_token(sub="u-8")
    new_key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
    provider.published = published_keys(new_key)
    clocked.move(11)
    assert read_block(clocked.app, provider.access_token(key=new_key)) == 200
    assert read_block(clocked.app, late) == 401


def test_keys_that_are_known_outlive_a_provider_that_is_away(provider: BendableProvider, clocked: ClockedApp) -> None:
    """A made-up key id makes the keys be read again; when that fails, those already known still count."""
    assert read_block(clocked.app, provider.access_token()) == 200
    provider.keys_reply = Response("", 500)
    clocked.move(11)
    made_up = provider.access_token(key=RSAKey.generate_key(2048, auto_kid=True))
    assert read_block(clocked.app, made_up) == 401
    assert read_block(clocked.app, provider.access_token(sub="u-9")) == 200


def read_block(app: GuardedFlask, token: str) -> int:
    return app.test_client().get(BLOCK, headers=bearer(token)).status_code


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
