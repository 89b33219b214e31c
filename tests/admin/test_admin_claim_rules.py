"""Claim rules as admins set them: what fits, what they make of one's own claims, and no way to lock oneself out."""

from typing import Any

import pytest

from admin.identity.rules import is_needed_for_sign_in, preview, rule_faults, rule_from_text
from tenancy.examination import Finding
from tenancy.guards import GuardedFlask
from tenancy.identity import Role
from tenancy.roles import ClaimRule, Grant
from tests.cast import Calls, Person
from tests.world import World

PROVIDERS = "/v1/org/providers"
ADMIN = {"claim": "roles", "value": "admin", "grants": "admin"}
TEAM = {"claim": "teams", "value": "", "grants": "team"}


def put_rules(calls: Calls, world: World, rules: object, **fields: Any) -> Any:
    """Set the rules of the provider that the caller signed in by."""
    body = {"issuer": f"{world.demo.provider_url}/acme", "audience": "keepline", "claim_rules": rules, **fields}
    return calls.put(PROVIDERS, body)


def rules_of(world: World) -> object:
    return world.rows("SELECT claim_rules FROM app.providers WHERE issuer LIKE '%%/acme'")[0][0]


def test_rules_decide_from_the_next_token_on(admin: Calls, world: World) -> None:
    reader = {"claim": "sub", "value": "acme-956d65716d808624c729", "grants": "reviewer"}
    reply = put_rules(admin, world, [ADMIN, reader, TEAM])
    assert reply.get_json()["claim_rules"] == [
        {**ADMIN, "team": ""}, {**reader, "team": ""}, {**TEAM, "team": ""},
    ]  # fmt: skip
    with world.another_app() as app, app.app_context():
        bearer_tokens = app.extensions["keepline"].bearer_tokens
        roles = {
            name: bearer_tokens.authenticate(Person(world, name).token("demo-console"), "test").identity
            for name in ("admin", "reviewer", "member", "lead")
        }
    assert {name: identity.roles for name, identity in roles.items()} == {
        "admin": Role.ADMIN, "reviewer": Role.REVIEWER, "member": Role.NONE, "lead": Role.NONE,
    }  # fmt: skip
    assert len(roles["member"].team_ids) == 1
    assert roles["lead"].led_team_ids == ()  # no rule gives it any more


@pytest.mark.parametrize(
    "rules",
    [
        [{"claim": "roles", "value": "admin", "grants": "reviewer"}],
        [{"claim": "roles", "value": "Admin", "grants": "admin"}],
        [{"claim": "nothing", "value": "x", "grants": "member"}],
    ],
)
def test_rules_that_take_the_role_from_their_author_are_saved_when_confirmed_alone(
    admin: Calls, world: World, rules: list[Any]
) -> None:
    reply = put_rules(admin, world, rules)
    assert (reply.status_code, reply.get_json()["code"]) == (409, "would_lock_you_out")
    assert rules_of(world) == []
    assert put_rules(admin, world, rules, confirm=False).status_code == 409
    assert put_rules(admin, world, rules, confirm=True).status_code == 200
    assert rules_of(world) == [{**rules[0], "team": ""}]


def test_the_rules_of_another_provider_lock_nobody_out(admin: Calls, world: World) -> None:
    rules = [{"claim": "roles", "value": "reviewer", "grants": "reviewer"}]
    fields = {"audience": "second", "client_id": "web"}
    assert put_rules(admin, world, [ADMIN], **fields).status_code == 200
    assert put_rules(admin, world, rules, **fields).status_code == 200
    assert put_rules(admin, world, [], **fields).status_code == 200


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"claim": "", "value": "a", "grants": "admin"}, "claim"),
        ({"claim": "x" * 201, "value": "a", "grants": "admin"}, "claim"),
        ({"claim": "a\0", "value": "a", "grants": "admin"}, "claim"),
        ({"claim": "groups", "value": "x" * 201, "grants": "admin"}, "value"),
        ({"claim": "groups", "value": "a\nb", "grants": "member"}, "value"),
        ({"claim": "groups", "value": "", "grants": "admin"}, "value"),
        ({"claim": "groups", "value": "", "grants": "reviewer"}, "value"),
        ({"claim": "groups", "value": "a", "grants": "team"}, "team"),
        ({"claim": "groups", "value": "a", "grants": "lead"}, "team"),
        ({"claim": "groups", "value": "a", "grants": "admin", "team": "Ops"}, "team"),
        ({"claim": "groups", "value": "a", "grants": "team", "team": "x" * 201}, "team"),
        ({"claim": "groups", "value": "a", "grants": "owner"}, "grants"),
        ({"claim": "groups", "value": "a"}, "grants"),
        ({"claim": 1, "value": "a", "grants": "admin"}, "claim"),
        ({"claim": "groups", "value": "a", "grants": "admin", "org_id": "x"}, "org_id"),
    ],
)
def test_a_rule_that_does_not_fit_is_named_by_its_place_and_field(
    admin: Calls, world: World, rule: dict[str, Any], field: str
) -> None:
    for path, body in ((PROVIDERS, None), (f"{PROVIDERS}/preview", {"claim_rules": [ADMIN, rule]})):
        reply = admin.post(path, body) if body else put_rules(admin, world, [ADMIN, rule])
        assert (reply.status_code, reply.get_json()["code"]) == (422, "invalid_request")
        assert set(reply.get_json()["errors"]["claim_rules"]) == {"1"}
        assert set(reply.get_json()["errors"]["claim_rules"]["1"]) == {field}
    assert rules_of(world) == []


def test_a_hundred_rules_fit_and_one_more_does_not(admin: Calls, world: World) -> None:
    many = [{"claim": "groups", "value": f"g{number}", "grants": "member"} for number in range(100)]
    assert put_rules(admin, world, [ADMIN, *many]).status_code == 422
    assert put_rules(admin, world, [ADMIN, *many[:99]]).status_code == 200


def test_a_preview_says_what_the_caller_s_own_claims_give_and_saves_nothing(admin: Calls, world: World) -> None:
    ops = {"claim": "preferred_username", "value": "admin", "grants": "team", "team": "Office"}
    lead = {"claim": "roles", "value": "", "grants": "lead"}
    never = {"claim": "realm_access.roles", "value": "x", "grants": "reviewer"}
    reply = admin.post(f"{PROVIDERS}/preview", {"claim_rules": [ADMIN, ops, lead, never]})
    found = reply.get_json()
    assert reply.status_code == 200
    assert found["claims"]["roles"] == ["admin"]
    assert found["claims"]["realm_access.roles"] == []
    assert found["matched"][0] is True
    assert found["matched"][3] is False
    assert (found["roles"], found["problem"]) == (["admin"], None)
    assert found["led_teams"] == ["admin"]
    assert set(found["teams"]) >= {"admin"}
    plain = admin.post(f"{PROVIDERS}/preview", {"claim_rules": []}).get_json()
    assert plain == {
        "claims": {"teams": [], "roles": ["admin"]}, "matched": [], "roles": ["admin"], "teams": [], "led_teams": [],
        "problem": None,
    }  # fmt: skip
    assert rules_of(world) == []


def test_a_preview_says_why_rules_give_nothing(admin: Calls) -> None:
    body = {"claim_rules": [{"claim": "groups", "value": "x", "grants": "member"}]}
    found = admin.post(f"{PROVIDERS}/preview", body).get_json()
    assert found["roles"] == found["teams"] == []
    assert "lets certain groups use Keepline" in found["problem"]


def test_a_preview_says_of_left_out_groups_and_of_too_many_teams(world: World) -> None:
    org_id = world.rows("SELECT org_id FROM app.orgs WHERE slug = 'acme'")[0][0]
    rules = (ClaimRule("groups", "", Grant.TEAM),)
    assert "left your groups out" in str(preview(org_id, {"_claim_names": {"groups": "src1"}}, rules).problem)
    many = preview(org_id, {"groups": [f"g{number}" for number in range(101)]}, rules)
    assert "101 teams" in str(many.problem)
    assert preview(org_id, {"groups": ["a"]}, rules).teams == ("a",)


def test_in_a_browser_the_claims_of_the_session_are_tried(world: World, app: GuardedFlask) -> None:
    """A session's claims are kept for admins; where they can't be read any more, the preview says so."""
    browser = app.test_client()
    person = Person(world, "admin")
    assert browser.get(person.answer_of_provider(browser, "acme")).status_code == 302
    page = browser.get("/admin/policy").text
    headers = {"X-Keepline-CSRF": page.split('name="csrf_token" value="', 1)[1].split('"', 1)[0]}
    body = {"claim_rules": [ADMIN]}
    reply = browser.post(f"{PROVIDERS}/preview", json=body, headers=headers)
    assert reply.get_json()["roles"] == ["admin"]
    with world.superuser() as connection:
        connection.execute("UPDATE app.web_sessions SET claims = NULL")
    reply = browser.post(f"{PROVIDERS}/preview", json=body, headers=headers)
    assert (reply.status_code, reply.get_json()["code"]) == (409, "claims_unknown")
    issuer = {"issuer": f"{world.demo.provider_url}/acme", "audience": "keepline"}
    reply = browser.put(PROVIDERS, json={**issuer, "claim_rules": [ADMIN]}, headers=headers)
    assert (reply.status_code, reply.get_json()["code"]) == (409, "would_lock_you_out")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("groups=admins:admin", ClaimRule("groups", "admins", Grant.ADMIN)),
        ("groups=ops:team:Operations", ClaimRule("groups", "ops", Grant.TEAM, "Operations")),
        ("teams=:team", ClaimRule("teams", "", Grant.TEAM)),
        ("groups=ops:lead:A:B", ClaimRule("groups", "ops", Grant.LEAD, "A:B")),
        ("https://acme.example/roles=urn:acme:x:reviewer", ClaimRule("https://acme.example/roles", "urn:acme:x",
                                                                     Grant.REVIEWER)),
        ("groups=admins", None), ("=x:admin", None), ("groups:admin", None), ("groups=x:owner", None), ("", None),
    ],
)  # fmt: skip
def test_a_rule_is_read_from_one_word_of_a_command(text: str, rule: ClaimRule | None) -> None:
    assert rule_from_text(text) == rule
    assert rule is None or rule_faults(rule) == {}


def test_every_point_of_an_examination_is_known_to_be_needed_or_not(world: World, app: GuardedFlask) -> None:
    findings: list[Finding] = app.extensions["keepline"].providers.examine(f"{world.demo.provider_url}/acme")
    assert {found.subject for found in findings if not is_needed_for_sign_in(found.subject)} == {
        "Issuer in answers", "Back-channel logout", "Refresh",
    }  # fmt: skip
