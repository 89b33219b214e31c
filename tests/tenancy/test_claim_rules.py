"""Claim rules: which claims give which roles and teams, and what is said when the provider left them out."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenancy.identity import Role
from tenancy.roles import (
    ClaimRule,
    Grant,
    GroupsOverageError,
    NotMemberError,
    TooManyTeamsError,
    read_rules,
    rights_from_claims,
    team_id,
)

ORG = UUID("019a0000-0000-7000-8000-000000000000")
RULES = (
    ClaimRule("groups", "g-audit", Grant.REVIEWER),
    ClaimRule("groups", "g-it", Grant.ADMIN),
    ClaimRule("groups", "g-ops", Grant.TEAM, "Operations"),
    ClaimRule("groups", "g-ops-leads", Grant.LEAD, "Operations"),
    ClaimRule("realm_access.roles", "lab", Grant.TEAM, "Research"),
)


def test_without_rules_the_plain_claims_count() -> None:
    rights = rights_from_claims(ORG, {"teams": ["Sales"], "roles": ["reviewer", "lead:Support", "x"]})
    assert (rights.roles, rights.teams, rights.led_teams) == (Role.REVIEWER, ("Sales", "Support"), ("Support",))
    assert rights.led_team_ids == (team_id(ORG, "Support"),)


@pytest.mark.parametrize(
    ("claims", "roles", "teams", "led"),
    [
        ({}, Role.NONE, (), ()),
        ({"groups": []}, Role.NONE, (), ()),
        ({"groups": ["g-audit"]}, Role.REVIEWER, (), ()),
        ({"groups": "g-it"}, Role.ADMIN, (), ()),
        ({"groups": ["g-audit", "g-it", "other"]}, Role.REVIEWER | Role.ADMIN, (), ()),
        ({"groups": ["g-ops"]}, Role.NONE, ("Operations",), ()),
        ({"groups": ["g-ops-leads"]}, Role.NONE, ("Operations",), ("Operations",)),
        ({"realm_access": {"roles": ["lab"]}}, Role.NONE, ("Research",), ()),
        ({"realm_access.roles": ["lab"]}, Role.NONE, ("Research",), ()),
        ({"realm_access": ["lab"]}, Role.NONE, (), ()),
        ({"groups": ["G-IT", "g-it ", "g-i"]}, Role.NONE, (), ()),
        ({"groups": {"g-it": True}}, Role.NONE, (), ()),
        ({"groups": [["g-it"], 7, None]}, Role.NONE, (), ()),
        ({"roles": ["admin", "reviewer"], "teams": ["Operations"]}, Role.NONE, (), ()),
    ],
)
def test_with_rules_nothing_else_counts(
    claims: dict[str, Any], roles: Role, teams: tuple[str, ...], led: tuple[str, ...]
) -> None:
    rights = rights_from_claims(ORG, claims, RULES)
    assert (rights.roles, rights.teams, rights.led_teams) == (roles, teams, led)


def test_a_rule_without_a_value_takes_each_value_for_a_team() -> None:
    rights = rights_from_claims(ORG, {"groups": ["A", "B"]}, (ClaimRule("groups", "", Grant.TEAM),))
    assert rights.teams == ("A", "B")


def test_where_members_are_named_everybody_else_is_refused() -> None:
    rules = (ClaimRule("groups", "staff", Grant.MEMBER), ClaimRule("groups", "it", Grant.ADMIN))
    assert rights_from_claims(ORG, {"groups": ["staff"]}, rules).roles is Role.NONE
    assert rights_from_claims(ORG, {"groups": ["it"]}, rules).roles is Role.ADMIN
    for claims in ({}, {"groups": ["guests"]}, {"groups": []}):
        with pytest.raises(NotMemberError):
            rights_from_claims(ORG, claims, rules)


@pytest.mark.parametrize(
    "left_out",
    [
        {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://graph.example"}}},
        {"hasgroups": True},
        {"hasgroups": "true"},
        {"_claim_names": {"groups": "src1"}, "groups": ["g-it"]},
    ],
)
@pytest.mark.parametrize("rules", [(), RULES])
def test_left_out_groups_are_an_error_of_their_own(left_out: dict[str, Any], rules: tuple[ClaimRule, ...]) -> None:
    """Neither without groups nor with those of before (Entra's overage)."""
    with pytest.raises(GroupsOverageError):
        rights_from_claims(ORG, {"roles": ["admin"], **left_out}, rules)


def test_groups_that_no_rule_reads_may_be_left_out() -> None:
    rules = (ClaimRule("roles", "Keepline.Admin", Grant.ADMIN),)
    claims = {"roles": ["Keepline.Admin"], "hasgroups": True}
    assert rights_from_claims(ORG, claims, rules).roles is Role.ADMIN
    with pytest.raises(GroupsOverageError):
        rights_from_claims(ORG, {**claims, "_claim_names": {"roles": "src1"}}, rules)


def test_a_nested_claim_that_is_left_out_as_a_whole_is_noticed() -> None:
    with pytest.raises(GroupsOverageError):
        rights_from_claims(ORG, {"_claim_names": {"realm_access": "src1"}}, RULES)


def test_more_teams_than_an_identity_carries_are_an_error() -> None:
    teams = [f"Team {number}" for number in range(101)]
    assert len(rights_from_claims(ORG, {"teams": teams[:100]}).team_ids) == 100
    with pytest.raises(TooManyTeamsError) as refusal:
        rights_from_claims(ORG, {"teams": teams})
    assert refusal.value.fields["limit"] == 100


def test_rules_are_read_as_they_are_stored() -> None:
    stored = [{"claim": "groups", "value": "x", "grants": "lead", "team": "T"}, {"claim": "c", "grants": "team"}]
    assert read_rules(stored) == (ClaimRule("groups", "x", Grant.LEAD, "T"), ClaimRule("c", "", Grant.TEAM, ""))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["groups", "roles", "teams", "realm_access", "_claim_names", "hasgroups"]), _JSON)
)
def test_whatever_the_claims_hold_the_answer_is_rights_or_a_refusal(claims: dict[str, Any]) -> None:
    for rules in ((), RULES):
        try:
            rights = rights_from_claims(ORG, claims, rules)
        except GroupsOverageError:
            continue
        assert set(rights.led_team_ids) <= set(rights.team_ids)
