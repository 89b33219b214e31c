"""A web session's roles and teams are confirmed by the provider again, and never relied on for over 15 minutes."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from bendable_provider import BendableProvider
from flask import Response, jsonify
from flask.testing import FlaskClient

from tenancy.identity import Role
from tenancy.roles import team_id
from tests.cast import Cast
from tests.world import World

PAGE = "/settings/memory"
SESSIONS = "/settings/sessions"
FRESH, DUE, TOO_OLD = 599, 620, 920


@pytest.fixture
def bent(provider: BendableProvider) -> Iterator[BendableProvider]:
    provider.straighten()
    provider.refresh_token = "first"
    provider.id_claims = {"roles": ["admin", "lead:Support"], "teams": ["Support", "Sales"]}
    yield provider
    provider.straighten()


def _sign_in(world: World, bent: BendableProvider) -> FlaskClient:
    browser, answer = bent.sign_in(world.app)
    assert answer.status_code == 302, answer.text
    bent.nonce = ""
    bent.exchanges.clear()
    return browser


def _age(world: World, seconds: int) -> None:
    with world.superuser() as connection:
        connection.execute(
            "UPDATE app.web_sessions SET rights_at = clock_timestamp() - make_interval(secs => %s)", (seconds,)
        )


def _rights(world: World) -> list[tuple[Any, ...]]:
    return world.rows("SELECT org_id, roles, cardinality(team_ids), led_team_ids FROM app.web_sessions")


def test_a_session_keeps_what_the_provider_said_at_sign_in(world: World, bent: BendableProvider) -> None:
    _sign_in(world, bent)
    [(org_id, roles, teams, led)] = _rights(world)
    assert (roles, teams, led) == (Role.ADMIN, 2, [team_id(org_id, "Support")])


@pytest.mark.parametrize(("age", "asked"), [(FRESH, 0), (DUE, 1), (TOO_OLD, 1)])
def test_the_provider_is_asked_again_after_ten_minutes(
    world: World, bent: BendableProvider, age: int, asked: int
) -> None:
    browser = _sign_in(world, bent)
    _age(world, age)
    assert browser.get(PAGE).status_code == 200
    assert [exchange["grant_type"] for exchange in bent.exchanges] == ["refresh_token"] * asked
    assert browser.get(PAGE).status_code == 200
    assert len(bent.exchanges) == asked


def test_a_group_that_was_removed_is_gone_after_the_renewal(world: World, bent: BendableProvider) -> None:
    browser = _sign_in(world, bent)
    assert browser.get("/admin/policy").status_code == 200
    bent.id_claims = {"teams": ["Sales"]}
    _age(world, DUE)
    assert browser.get("/admin/policy").status_code == 403
    [(_, roles, teams, led)] = _rights(world)
    assert (roles, teams, led) == (Role.NONE, 1, [])
    assert world.rows("SELECT claims FROM app.web_sessions") == [(None,)]  # kept for admins alone


def test_each_refresh_token_is_used_once(world: World, bent: BendableProvider) -> None:
    browser = _sign_in(world, bent)
    for used, given in (("first", "second"), ("second", "third")):
        bent.refresh_token = given
        _age(world, DUE)
        assert browser.get(PAGE).status_code == 200
        assert bent.exchanges[-1]["refresh_token"] == used


def test_requests_at_once_use_it_once(world: World, bent: BendableProvider) -> None:
    browser = _sign_in(world, bent)
    _age(world, DUE)
    answers: list[int] = []

    def ask() -> None:
        another = world.app.test_client()
        another._cookies = browser._cookies  # the same browser's tabs
        answers.append(another.get(PAGE).status_code)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 8
    assert len(bent.exchanges) == 1


def test_who_is_refused_at_the_provider_is_signed_out_here(world: World, bent: BendableProvider) -> None:
    browser = _sign_in(world, bent)
    bent.token_reply = _error_reply(world, {"error": "invalid_grant"}, 400)
    _age(world, DUE)
    answer = browser.get(PAGE)
    assert (answer.status_code, answer.headers["Location"]) == (
        302,
        "/login/start?org=cedar&next=%2Fsettings%2Fmemory",
    )
    assert _rights(world) == []


def test_another_persons_id_token_ends_the_session(world: World, bent: BendableProvider) -> None:
    browser = _sign_in(world, bent)
    bent.id_claims = {"sub": "somebody else", "roles": ["admin"]}
    _age(world, DUE)
    assert browser.get(PAGE).status_code == 302
    assert _rights(world) == []


def test_a_provider_that_does_not_answer_is_tried_until_the_rights_are_too_old(
    world: World, bent: BendableProvider
) -> None:
    browser = _sign_in(world, bent)
    bent.token_reply = _error_reply(world, {}, 503)
    _age(world, DUE)
    assert browser.get(PAGE).status_code == 200
    with world.superuser() as connection:
        connection.execute("UPDATE app.web_sessions SET renewal_began_at = NULL")
    _age(world, TOO_OLD)
    answer = browser.get(PAGE)
    assert answer.status_code == 503
    assert "identity provider does not answer" in answer.text
    assert answer.headers["Retry-After"]
    assert len(_rights(world)) == 1  # nothing is lost: it goes on as soon as the provider answers
    bent.token_reply = None
    with world.superuser() as connection:
        connection.execute("UPDATE app.web_sessions SET renewal_began_at = NULL")
    assert browser.get(PAGE).status_code == 200


def test_without_a_refresh_token_the_browser_goes_to_the_provider_and_comes_back(
    world: World, bent: BendableProvider
) -> None:
    bent.refresh_token = None
    browser = _sign_in(world, bent)
    _age(world, DUE)
    assert browser.get(PAGE).status_code == 200
    _age(world, TOO_OLD)
    answer = browser.get(f"{PAGE}?notice=ended")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/login/start?org=cedar&next=%2Fsettings%2Fmemory%3Fnotice%3Dended"
    assert browser.get("/v1/memory/block").status_code == 401


def test_a_lapsed_session_can_be_signed_out(world: World, bent: BendableProvider) -> None:
    bent.refresh_token = None
    browser = _sign_in(world, bent)
    token = browser.get(PAGE).text.split('name="csrf_token" value="', 1)[1].split('"', 1)[0]
    _age(world, TOO_OLD)
    assert browser.post("/logout", data={"csrf_token": token}).status_code == 303
    assert _rights(world) == []


def test_a_lapsed_session_stands_in_nobodys_way_to_sign_in(world: World, bent: BendableProvider) -> None:
    bent.refresh_token = None
    browser = _sign_in(world, bent)
    _age(world, TOO_OLD)
    for public in ("/", "/login", "/login/start?org=cedar"):
        assert browser.get(public).status_code in (200, 302), public


def test_groups_that_do_not_fit_into_a_renewed_token_are_said_and_not_kept(
    world: World, bent: BendableProvider
) -> None:
    browser = _sign_in(world, bent)
    bent.id_claims = {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://x"}}}
    _age(world, DUE)
    answer = browser.get(PAGE)
    assert answer.status_code == 403
    assert "more of them than a token can hold" in answer.text
    assert _rights(world) == []


def test_a_refresh_token_that_cannot_be_read_any_more_sends_the_browser_to_the_provider_once(
    world: World, bent: BendableProvider
) -> None:
    """Sealed with a secret key from before a rotation: nobody waits for it, and nobody is locked out."""
    browser = _sign_in(world, bent)
    with world.superuser() as connection:
        connection.execute("UPDATE app.web_sessions SET refresh_token = 'sealed otherwise'")
    _age(world, DUE)
    assert browser.get(PAGE).status_code == 200
    assert world.rows("SELECT refresh_token FROM app.web_sessions") == [(None,)]
    _age(world, TOO_OLD)
    answer = browser.get(PAGE)
    assert answer.headers["Location"].startswith("/login/start?org=cedar&next=")
    assert bent.exchanges == []


def test_a_provider_that_renews_without_an_id_token_confirms_nobody_and_ends_nothing(
    world: World, bent: BendableProvider
) -> None:
    """OpenID Connect Core 12.2 allows it: the session goes on, as one without a refresh token."""
    browser = _sign_in(world, bent)
    bent.token_reply = _error_reply(world, {"access_token": "opaque", "token_type": "Bearer"}, 200)
    _age(world, DUE)
    assert browser.get(PAGE).status_code == 200
    _age(world, TOO_OLD)
    assert browser.get(PAGE).headers["Location"].startswith("/login/start?org=cedar")


def test_a_session_that_ends_while_it_is_renewed_stays_ended(world: World, bent: BendableProvider) -> None:
    browser = _sign_in(world, bent)
    _age(world, DUE)

    def sign_out_everywhere() -> None:
        with world.superuser() as connection:
            connection.execute("DELETE FROM app.web_sessions")

    bent.before_signing = sign_out_everywhere
    answer = browser.get(PAGE)
    assert len(bent.exchanges) == 1
    assert answer.status_code == 302
    assert _rights(world) == []


def test_the_page_that_says_so_asks_nobody_once_more(world: World, bent: BendableProvider) -> None:
    browser = _sign_in(world, bent)
    bent.token_reply = _error_reply(world, {}, 503)
    _age(world, TOO_OLD)
    assert browser.get(PAGE).status_code == 503
    assert len(bent.exchanges) == 1


def test_signing_out_everywhere_needs_no_provider(world: World, bent: BendableProvider) -> None:
    browser = _sign_in(world, bent)
    token = browser.get(PAGE).text.split('name="csrf_token" value="', 1)[1].split('"', 1)[0]
    bent.token_reply = _error_reply(world, {}, 503)
    _age(world, TOO_OLD)
    assert browser.get(PAGE).status_code == 503
    assert browser.get(SESSIONS).status_code == 200
    assert browser.post(f"{SESSIONS}/end-everywhere", data={"csrf_token": token}).status_code == 303
    assert _rights(world) == []


def test_the_demo_renews_its_sessions(world: World, cast: Cast) -> None:
    browser = cast.lead.browser()
    _age(world, DUE)
    assert browser.get(PAGE).status_code == 200
    assert world.rows("SELECT rights_at > clock_timestamp() - interval '1 minute' FROM app.web_sessions") == [(True,)]


def _error_reply(world: World, body: dict[str, Any], status: int) -> Response:
    with world.app.app_context():
        reply = jsonify(body)
    reply.status_code = status
    return reply
