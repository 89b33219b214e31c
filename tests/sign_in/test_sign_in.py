"""Signing in through the identity provider: once per state, in the browser that began it, into a new session."""

import base64
import hashlib
from urllib.parse import parse_qs, urlsplit

import pytest
from bendable_provider import BendableProvider
from flask.testing import FlaskClient

from tenancy.guards import GuardedFlask
from tests.cast import Cast, csrf_token_of
from tests.world import WEB_PORT, World

MEMORY = "/settings/memory"
SESSION = f"keepline_{WEB_PORT}"


def signed_in(browser: FlaskClient) -> bool:
    return browser.get(MEMORY).status_code == 200


def test_a_person_signs_in_and_the_trail_says_so(world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    assert signed_in(browser)
    assert "Mina Okafor" in browser.get(MEMORY).text
    entries = world.rows(
        "SELECT action, writer, client, user_id, actor_id, org_id FROM app.audit_events WHERE action LIKE 'session.%%'"
    )
    owner = cast.owner.identity
    assert entries == [("session.start", "user", "web", owner.user_id, owner.user_id, owner.org_id)]


def test_the_request_to_the_provider_carries_state_nonce_and_an_s256_challenge_that_the_exchange_answers(
    app: GuardedFlask, provider: BendableProvider
) -> None:
    browser = app.test_client()
    address = browser.get("/login/start?org=cedar").headers["Location"]
    asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == f"http://127.0.0.1:{WEB_PORT}/login/callback"
    assert min(len(asked["state"]), len(asked["nonce"])) >= 43
    provider.nonce = asked["nonce"]
    reply = browser.get("/login/callback", query_string={"code": "c", "state": asked["state"], "iss": provider.issuer})
    assert reply.status_code == 302
    [exchange] = provider.exchanges
    challenge = base64.urlsafe_b64encode(hashlib.sha256(exchange["code_verifier"].encode()).digest())
    assert challenge.rstrip(b"=").decode() == asked["code_challenge"]


def test_a_callback_works_once(world: World, cast: Cast) -> None:
    browser = world.app.test_client()
    callback = cast.owner.answer_of_provider(browser, "acme")
    assert browser.get(callback).status_code == 302
    again = browser.get(callback)
    assert again.status_code == 400
    assert "can’t be completed" in again.text or "can&#39;t be completed" in again.text


def test_another_browser_cannot_finish_a_sign_in_and_does_not_spend_it(world: World, cast: Cast) -> None:
    mine, other = world.app.test_client(), world.app.test_client()
    callback = cast.owner.answer_of_provider(mine, "acme")
    assert other.get(callback).status_code == 400
    assert not signed_in(other)
    # Also not one that has begun a sign-in of its own, into which it could be tricked.
    cast.stranger.answer_of_provider(other, "birch")
    assert other.get(callback).status_code == 400
    assert not signed_in(other)
    assert mine.get(callback).status_code == 302
    assert signed_in(mine)


@pytest.mark.parametrize("state", ["made-up", "", "%00", "\u00e9", "x" * 5_000])
def test_a_made_up_state_is_a_plain_page_with_a_link_to_try_again(state: str, world: World) -> None:
    reply = world.app.test_client().get("/login/callback", query_string={"code": "x", "state": state})
    assert reply.status_code == 400
    assert reply.mimetype == "text/html"
    assert 'href="/login"' in reply.text
    assert "Try again" in reply.text


def test_two_tabs_of_one_browser_both_end_signed_in(world: World, cast: Cast) -> None:
    browser = world.app.test_client()
    first = cast.owner.answer_of_provider(browser, "acme")
    second = cast.owner.answer_of_provider(browser, "acme", "/settings/memory?tab=two")
    assert browser.get(first).headers["Location"] == MEMORY
    assert signed_in(browser)
    assert browser.get(second).headers["Location"] == "/settings/memory?tab=two"
    assert "Mina Okafor" in browser.get(MEMORY).text


def test_a_sign_in_left_for_ten_minutes_is_over(world: World, cast: Cast) -> None:
    browser = world.app.test_client()
    callback = cast.owner.answer_of_provider(browser, "acme")
    with world.superuser() as connection:
        connection.execute("UPDATE tenancy.sign_ins SET expires_at = expires_at - interval '10 minutes 1 second'")
    assert browser.get(callback).status_code == 400


def test_the_session_is_new_after_each_sign_in_and_the_old_one_is_dead(world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    old = browser.get_cookie(SESSION, "127.0.0.1")
    assert old is not None
    browser.get(cast.owner.answer_of_provider(browser, "acme"))
    new = browser.get_cookie(SESSION, "127.0.0.1")
    assert new is not None
    assert new.value != old.value
    assert signed_in(browser)
    thief = world.app.test_client()
    thief.set_cookie(SESSION, old.value, domain="127.0.0.1")
    assert not signed_in(thief)


def test_a_session_chosen_by_somebody_else_is_never_taken_over(world: World, cast: Cast) -> None:
    browser = world.app.test_client()
    browser.set_cookie(SESSION, "chosen-by-an-attacker", domain="127.0.0.1")
    browser.get(cast.owner.answer_of_provider(browser, "acme"))
    attacker = world.app.test_client()
    attacker.set_cookie(SESSION, "chosen-by-an-attacker", domain="127.0.0.1")
    assert signed_in(browser)
    assert not signed_in(attacker)


def test_signing_out_ends_the_session_on_the_server_and_is_in_the_trail(world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    kept = browser.get_cookie(SESSION, "127.0.0.1")
    assert kept is not None
    reply = browser.post("/logout", data={"csrf_token": csrf_token_of(browser.get(MEMORY).text)})
    assert (reply.status_code, reply.headers["Location"]) == (303, "/login?notice=signed_out")
    assert browser.get_cookie(SESSION, "127.0.0.1") is None
    assert "You are signed out." in browser.get(reply.headers["Location"]).text
    thief = world.app.test_client()
    thief.set_cookie(SESSION, kept.value, domain="127.0.0.1")
    assert not signed_in(thief)
    assert world.rows("SELECT count(*) FROM app.web_sessions") == [(0,)]
    actions = world.rows("SELECT action FROM app.audit_events WHERE user_id = %s ORDER BY at", cast.owner.user_id)
    assert [action for (action,) in actions] == ["session.start", "session.end"]


@pytest.mark.parametrize("slug", ["", "unknown", "nul\0", "ACME-", "'; --", "x" * 5_000, "\u0430cme"])
def test_an_unknown_company_is_told_so_on_the_form(slug: str, world: World) -> None:
    reply = world.app.test_client().get("/login/start", query_string={"org": slug})
    assert reply.status_code == 422
    assert 'id="org-problem"' in reply.text


def test_a_browser_at_another_address_is_sent_to_the_public_one_first(world: World) -> None:
    reply = world.app.test_client().get("/login/start?org=acme", base_url=f"http://localhost:{WEB_PORT}")
    assert reply.headers["Location"] == f"http://127.0.0.1:{WEB_PORT}/login/start?org=acme&moved=1"
    assert "Set-Cookie" not in reply.headers


def test_a_browser_is_sent_to_the_public_address_once_at_most(world: World) -> None:
    """Behind a proxy that does not pass the host on, every request seems to come by another address."""
    reply = world.app.test_client().get("/login/start?org=acme&moved=1", base_url="http://internal:9000")
    assert reply.headers["Location"].startswith(world.demo.provider_url)
