"""A person sees the own sign-ins, ends one of them, or everything at once; nobody else's are touched."""

import time

from flask.testing import FlaskClient

from tests.cast import Cast, csrf_token_of
from tests.world import World

PAGE = "/settings/sessions"


def _post(browser: FlaskClient, path: str) -> int:
    token = csrf_token_of(browser.get(PAGE).text)
    return browser.post(path, data={"csrf_token": token}).status_code


def _open(browser: FlaskClient) -> bool:
    return browser.get(PAGE).status_code == 200


def test_everywhere_means_every_browser_and_every_older_token_of_that_person(world: World, cast: Cast) -> None:
    here, there, colleague = cast.owner.browser(), cast.owner.browser(), cast.teammate.browser()
    owner_calls, colleague_calls = cast.owner.assistant, cast.teammate.assistant
    assert owner_calls.get("/v1/memory/block").status_code == 200
    assert _post(here, f"{PAGE}/end-everywhere") == 303
    assert (_open(here), _open(there), _open(colleague)) == (False, False, True)
    refused = owner_calls.get("/v1/memory/block")
    assert (refused.status_code, refused.get_json()["code"]) == (401, "not_signed_in")
    assert 'error="invalid_token"' in refused.headers["WWW-Authenticate"]
    assert owner_calls.write("x").status_code == 401
    assert owner_calls.get("/v1/prompt").status_code == 401
    assert colleague_calls.get("/v1/memory/block").status_code == 200
    [(action, counts)] = world.rows(
        "SELECT action, counts FROM app.audit_events WHERE action = 'session.end_everywhere'"
    )
    assert (action, counts) == ("session.end_everywhere", {"sessions": 2})


def test_a_token_issued_afterwards_is_welcome(cast: Cast) -> None:
    program = cast.owner.program
    assert program.get("/v1/memory/block").status_code == 200
    assert _post(cast.owner.browser(), f"{PAGE}/end-everywhere") == 303
    assert program.get("/v1/memory/block").status_code == 401
    time.sleep(1.1)  # a token's time is in whole seconds, and one of the same second counts as older
    cast.owner.forget_tokens()
    assert cast.owner.program.get("/v1/memory/block").status_code == 200


def test_one_browser_is_signed_out_and_the_others_stay(world: World, cast: Cast) -> None:
    here, there = cast.owner.browser(), cast.owner.browser()
    ids = [row[0] for row in world.rows("SELECT id FROM app.web_sessions ORDER BY created_at")]
    assert _post(here, f"{PAGE}/{ids[1]}/end") == 303
    assert (_open(here), _open(there)) == (True, False)
    assert _post(here, f"{PAGE}/{ids[1]}/end") == 404  # over already
    assert _post(here, f"{PAGE}/{ids[0]}/end") == 303  # this one itself
    assert not _open(here)


def test_somebody_elses_session_is_not_found(world: World, cast: Cast) -> None:
    here, colleague = cast.owner.browser(), cast.teammate.browser()
    [(foreign,)] = world.rows("SELECT id FROM app.web_sessions WHERE user_id = %s", cast.teammate.user_id)
    assert _post(here, f"{PAGE}/{foreign}/end") == 404
    assert _open(colleague)
    assert str(foreign) not in here.get(PAGE).text
    assert str(foreign) in colleague.get(PAGE).text


def test_signing_out_everywhere_does_not_outlive_the_cookie(cast: Cast) -> None:
    browser = cast.owner.browser()
    token = csrf_token_of(browser.get(PAGE).text)
    reply = browser.post(f"{PAGE}/end-everywhere", data={"csrf_token": token})
    assert reply.headers["Location"] == "/login?notice=signed_out"
    assert "Max-Age=0" in reply.headers["Set-Cookie"]


def test_a_sign_in_that_is_over_is_not_listed(world: World, cast: Cast) -> None:
    here, _ = cast.owner.browser(), cast.owner.browser()
    ids = [row[0] for row in world.rows("SELECT id FROM app.web_sessions ORDER BY created_at")]
    assert str(ids[1]) in here.get(PAGE).text
    with world.superuser() as connection:
        connection.execute(
            "UPDATE app.web_sessions SET last_seen_at = last_seen_at - interval '9 hours' WHERE id = %s", (ids[1],)
        )
    page = here.get(PAGE).text
    assert str(ids[0]) in page
    assert str(ids[1]) not in page
