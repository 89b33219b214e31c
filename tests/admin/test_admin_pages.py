"""The pages of admins work without JavaScript: every act by a plain form, and what was typed is kept."""

import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tenancy.guards import GuardedFlask
from tests.cast import Cast, csrf_token_of
from tests.world import World

PAGES = ("/admin", "/admin/clients", "/admin/identity", "/admin/policy")


@pytest.fixture
def browser(world: World, cast: Cast) -> Iterator[FlaskClient]:
    yield cast.admin.browser("/admin")
    with world.superuser() as connection:
        connection.execute(
            "DELETE FROM app.clients WHERE client_id NOT LIKE 'demo-%' AND client_id NOT LIKE 'bendable-%'"
        )
        connection.execute("UPDATE app.clients SET revoked_at = NULL, replaced_by = NULL")


def _post(browser: FlaskClient, path: str, **fields: object) -> TestResponse:
    token = csrf_token_of(browser.get("/admin/policy").text)
    return browser.post(path, data={"csrf_token": token, **fields})


def _ids(page: str, kind: str) -> list[str]:
    return re.findall(rf'href="/admin/{kind}/([0-9a-f-]{{36}})"', page)


@pytest.mark.parametrize("path", PAGES)
def test_admins_alone_see_them(cast: Cast, browser: FlaskClient, path: str) -> None:
    page = browser.get(path)
    assert page.status_code == 200
    assert '<a href="/admin" aria-current="page">Admin' in page.text
    for name in ("owner", "lead", "reviewer", "stranger"):
        other = getattr(cast, name).browser()
        assert other.get(path).status_code == 403
        assert 'href="/admin"' not in other.get("/settings/memory").text


def test_a_client_is_registered_changed_replaced_revoked_and_revived(browser: FlaskClient) -> None:
    reply = _post(browser, "/admin/clients", name="Helpdesk", client_id="helpdesk", kind="assistant")
    assert reply.status_code == 303
    page = browser.get(reply.headers["Location"]).text
    assert "The client is registered" in page
    path = reply.headers["Location"].split("?")[0]
    assert _post(browser, path, name="Help desk", scopes=["memory:read"]).status_code == 303
    assert "Help desk" in browser.get("/admin/clients").text
    replaced = _post(browser, f"{path}/replace", client_id="helpdesk-2", overlap_hours="12")
    assert replaced.status_code == 303
    assert "works until" in browser.get(path).text
    assert browser.get(f"{path}/revoke").status_code == 200
    assert _post(browser, f"{path}/revoke").status_code == 422  # not confirmed
    assert _post(browser, f"{path}/revoke", confirm="revoke").status_code == 303
    assert "Register it again" in browser.get(path).text
    assert _post(browser, f"{path}/revive").status_code == 303
    assert "Register it again" not in browser.get(path).text


def test_what_does_not_fit_is_said_beside_its_field_and_kept(browser: FlaskClient) -> None:
    reply = _post(browser, "/admin/clients", name="My <b>name</b>", client_id="", kind="assistant")
    assert reply.status_code == 422
    assert 'href="#client_id"' in reply.text
    assert 'id="client_id-problem"' in reply.text
    assert "My &lt;b&gt;name&lt;/b&gt;" in reply.text
    reply = _post(browser, "/admin/policy", retention="soon", model_writes="direct", allowed_domains="http://x")
    assert reply.status_code == 422
    assert 'value="soon"' in reply.text
    assert "http://x" in reply.text


def test_the_policy_is_saved(browser: FlaskClient, world: World) -> None:
    fields = {
        "retention": "30",
        "model_writes": "confirm",
        "allowed_domains": "Wiki.example.com\r\n",
        "extraction": "1",
    }
    assert _post(browser, "/admin/policy", **fields).status_code == 303
    assert world.rows(
        "SELECT memory_default, model_writes, allowed_domains, extraction, retention_days, llm_consent "
        "FROM app.org_policies"
    ) == [(False, "confirm", ["wiki.example.com"], True, 30, False)]
    assert "The policy is saved" in browser.get("/admin/policy?notice=saved").text


def test_a_provider_is_shown_with_its_rules_and_no_secret(browser: FlaskClient, world: World) -> None:
    [provider_id] = _ids(browser.get("/admin/identity").text, "identity")
    page = browser.get(f"/admin/identity/{provider_id}").text
    assert "Stored here, sealed" in page
    assert world.demo.web_client_secret not in page
    rules = browser.get(f"/admin/identity/{provider_id}/rules")
    assert "There are no rules" in rules.text


def test_rules_are_added_previewed_and_do_not_lock_the_admin_out(browser: FlaskClient, world: World) -> None:
    [provider_id] = _ids(browser.get("/admin/identity").text, "identity")
    path = f"/admin/identity/{provider_id}/rules"
    added = _post(browser, path, act="add")
    assert 'id="claim_rules-0-claim"' in added.text
    row = {"claim": "teams", "value": "", "grants": "team", "team": ""}
    preview = _post(browser, path, act="preview", **row)
    assert "What these rules make of your own token" in preview.text
    refused = _post(browser, path, act="save", **row)
    assert refused.status_code == 409
    assert 'id="confirm"' in refused.text
    rules = {"claim": ["roles", "teams"], "value": ["admin", ""], "grants": ["admin", "team"], "team": ["", ""]}
    try:
        assert _post(browser, path, act="save", **rules).status_code == 303
        page = browser.get(f"/admin/identity/{provider_id}").text
        assert "Whoever has admin in roles is an admin." in page
        assert "Whoever has values in teams is in the teams that they name." in page
        removed = _post(browser, path, remove="0", **rules)
        assert 'id="claim_rules-1-claim"' not in removed.text
    finally:
        with world.superuser() as connection:
            connection.execute("UPDATE app.providers SET claim_rules = '[]'")


def test_testing_a_provider_says_in_words_what_is_wrong(browser: FlaskClient) -> None:
    reply = _post(browser, "/admin/identity/test", issuer="http://127.0.0.1:1/nothing", audience="a", client_id="b")
    assert reply.status_code == 200
    assert "What the test found" in reply.text
    assert "✗ Not" in reply.text
    assert 'value="http://127.0.0.1:1/nothing"' in reply.text
    refused = _post(
        browser, "/admin/identity", issuer="http://127.0.0.1:1/nothing", audience="a", client_id="b",
        client_secret="hush-hush", scopes="openid",
    )  # fmt: skip
    assert refused.status_code == 422
    assert "hush-hush" not in refused.text


def test_the_provider_for_signing_in_is_not_disconnected(browser: FlaskClient) -> None:
    [provider_id] = _ids(browser.get("/admin/identity").text, "identity")
    reply = _post(browser, f"/admin/identity/{provider_id}/disconnect", confirm="disconnect")
    assert reply.status_code == 409
    assert "Nothing was changed" in reply.text


def test_what_does_not_fit_in_a_group_is_said_of_it_and_leads_to_its_first_control(browser: FlaskClient) -> None:
    page = _post(browser, "/admin/clients", name="N", client_id="n", kind="x").text
    assert 'id="kind" aria-describedby="kind-hint kind-problem"' in page
    assert 'href="#kind-assistant"' in page
    assert 'id="kind-assistant"' in page
    page = _post(browser, "/admin/clients", name="N", client_id="n", kind="assistant", scopes=["memory:manage"]).text
    assert '<fieldset class="field" aria-describedby="scopes-hint scopes-problem">' in page
    assert 'href="#scopes-memory:read"' in page
    assert 'id="scopes-memory:read"' in page
    page = _post(browser, "/admin/policy", retention="30", model_writes="x").text
    assert 'id="model_writes" aria-describedby="model_writes-hint model_writes-problem"' in page
    assert 'href="#model_writes-direct"' in page
    [provider_id] = _ids(browser.get("/admin/identity").text, "identity")
    row = {"claim": "roles", "value": "x", "grants": "x", "team": ""}
    assert "Rule 1, gives: Choose" in _post(browser, f"/admin/identity/{provider_id}/rules", act="save", **row).text


@pytest.mark.parametrize("remove", ["9" * 5000, "\N{SUPERSCRIPT TWO}", "-1", "1", ""])
def test_a_row_that_is_not_there_is_not_removed(browser: FlaskClient, remove: str) -> None:
    [provider_id] = _ids(browser.get("/admin/identity").text, "identity")
    row = {"claim": "roles", "value": "admin", "grants": "admin", "team": ""}
    reply = _post(browser, f"/admin/identity/{provider_id}/rules", remove=remove, **row)
    assert reply.status_code == 200
    assert 'id="claim_rules-0-claim"' in reply.text


def test_the_secret_of_the_provider_for_signing_in_goes_when_confirmed_alone(
    admin_browser: FlaskClient, world: World
) -> None:
    [provider_id] = _ids(admin_browser.get("/admin/identity").text, "identity")
    path, stored = f"/admin/identity/{provider_id}", "SELECT has_secret FROM app.providers WHERE id = %s"
    assert 'id="confirm"' not in admin_browser.get(path).text
    asked = _post(admin_browser, f"{path}/secret", remove="1")
    assert asked.status_code == 409
    assert 'id="confirm"' in asked.text
    assert world.rows(stored, provider_id) == [(True,)]
    assert _post(admin_browser, f"{path}/secret", remove="1", confirm="1").status_code == 303
    assert world.rows(stored, provider_id) == [(False,)]


def test_a_secret_is_stored_without_the_spaces_of_pasting_it(
    admin_browser: FlaskClient, app: GuardedFlask, world: World
) -> None:
    fields = {"issuer": f"{world.demo.provider_url}/acme", "client_id": "c", "scopes": "openid"}
    secret = " hush-hush\n"
    made = _post(admin_browser, "/admin/identity", audience="pasted", client_secret=secret, **fields)
    assert made.status_code == 303, made.text
    kept = "SELECT client_secret FROM app.providers WHERE audience = 'pasted'"
    assert app.extensions["keepline"].sessions.box.open(world.rows(kept)[0][0]) == b"hush-hush"
    path = made.headers["Location"].split("?")[0]
    assert _post(admin_browser, f"{path}/secret", client_secret=" other ").status_code == 303
    assert app.extensions["keepline"].sessions.box.open(world.rows(kept)[0][0]) == b"other"
