"""Roles and teams: what the claims of a token give, by the org's claim rules.

Without rules, `teams` lists the names of a person's teams, and `roles` lists `reviewer`, `admin`, and `lead:<team>` for
each team that the person leads. With rules, each says which value of which claim gives what; nothing else gives
anything.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid5

from tenancy.errors import ForbiddenError
from tenancy.identity import Role

TEAMS_CLAIM = "teams"
ROLES_CLAIM = "roles"
TEAMS_AT_MOST = 100
_LEAD = "lead:"
_NAMED = {"reviewer": Role.REVIEWER, "admin": Role.ADMIN}
# The claim that Microsoft Entra ID leaves out when somebody is in more groups than a token holds.
_GROUPS_CLAIM = "groups"


class Grant(StrEnum):
    """What a claim rule gives: the use of Keepline, membership or lead of a team, or a role."""

    MEMBER = "member"
    TEAM = "team"
    LEAD = "lead"
    REVIEWER = "reviewer"
    ADMIN = "admin"


class GroupsOverageError(ForbiddenError):
    """The provider left out of the token what roles and teams follow from, because there was too much of it."""

    code = "groups_overage"
    title = "Your groups do not fit into the token"

    def __init__(self) -> None:
        super().__init__(
            "Your identity provider left your groups out, because you are in more of them than a token can hold. "
            "Keepline can't tell which teams and roles are yours, so it did nothing. An admin can let the provider "
            "send only the groups that are assigned to Keepline, or send app roles instead."
        )


class TooManyTeamsError(ForbiddenError):
    """A token names more teams than an identity can carry; leaving some out would be worse than saying so."""

    code = "too_many_teams"
    title = "You are in too many teams"

    def __init__(self, count: int) -> None:
        super().__init__(
            f"Your identity provider names {count:,} teams for you, and Keepline takes at most {TEAMS_AT_MOST}. "
            "An admin can let claim rules pick the ones that matter here.",
            limit=TEAMS_AT_MOST,
        )


class NotMemberError(ForbiddenError):
    """The org lets only some of its people use Keepline, and this person is not one of them."""

    code = "not_a_member"
    title = "You have no access yet"

    def __init__(self) -> None:
        super().__init__(
            "Your organisation lets certain groups use Keepline, and you are in none of them. Ask an admin to add you."
        )


@dataclass(frozen=True)
class ClaimRule:
    """One rule: whoever has `value` in `claim` is given `grants`.

    `claim` is a claim's name, or a path with dots (`realm_access.roles`). With an empty `value`, each value of the
    claim is itself the name of a team. `team` is the team that TEAM and LEAD speak of; empty, it is the value.
    """

    claim: str
    value: str
    grants: Grant
    team: str = ""

    def matches(self, claims: Mapping[str, Any]) -> list[str]:
        """Return the claim's values that the rule speaks of."""
        values = _strings(find_claim(claims, self.claim))
        return [value for value in values if value == self.value] if self.value else values


@dataclass(frozen=True)
class Rights:
    """A person's roles and teams, as the identity provider says."""

    roles: Role
    team_ids: tuple[UUID, ...]
    led_team_ids: tuple[UUID, ...]
    teams: tuple[str, ...] = ()
    led_teams: tuple[str, ...] = ()


def read_rules(stored: Iterable[Mapping[str, Any]]) -> tuple[ClaimRule, ...]:
    """Return the rules of a provider from their stored form."""
    return tuple(
        ClaimRule(rule["claim"], rule.get("value", ""), Grant(rule["grants"]), rule.get("team", "")) for rule in stored
    )


def stored_rules(rules: Iterable[ClaimRule]) -> list[dict[str, str]]:
    """Return rules in their stored form."""
    return [
        {"claim": rule.claim, "value": rule.value, "grants": rule.grants.value, "team": rule.team} for rule in rules
    ]


def rights_from_claims(org_id: UUID, claims: Mapping[str, Any], rules: Sequence[ClaimRule] = ()) -> Rights:
    """Return the rights that the claims of one token give; claims of the wrong type give none.

    Raises:
        GroupsOverageError: the token says that it leaves out a claim that rights follow from.
        TooManyTeamsError: it names more than 100 teams.
        NotMemberError: the rules name who may use Keepline, and nothing in the claims matches any rule.

    """
    _refuse_overage(claims, rules)
    roles, teams, led = _by_rules(claims, rules) if rules else _by_names(claims)
    teams |= led
    if len(teams) > TEAMS_AT_MOST:
        raise TooManyTeamsError(len(teams))
    return Rights(roles, _team_ids(org_id, teams), _team_ids(org_id, led), tuple(sorted(teams)), tuple(sorted(led)))


def find_claim(claims: Mapping[str, Any], path: str) -> Any:
    """Return a claim by its name, or else by its path: names may hold dots themselves."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def team_id(org_id: UUID, name: str) -> UUID:
    """Return the id of a team: it follows from org and name, so that a token alone is enough to know it."""
    return uuid5(org_id, f"team:{name}")


def _by_names(claims: Mapping[str, Any]) -> tuple[Role, set[str], set[str]]:
    names = _strings(claims.get(ROLES_CLAIM))
    roles = Role.NONE
    for name in names:
        roles |= _NAMED.get(name, Role.NONE)
    led = {name.removeprefix(_LEAD) for name in names if name.startswith(_LEAD)} - {""}
    return roles, set(_strings(claims.get(TEAMS_CLAIM))), led


def _by_rules(claims: Mapping[str, Any], rules: Sequence[ClaimRule]) -> tuple[Role, set[str], set[str]]:
    roles, teams, led, matched = Role.NONE, set[str](), set[str](), False
    for rule in rules:
        values = rule.matches(claims)
        matched = matched or bool(values)
        if not values:
            continue
        named = {rule.team} if rule.team else set(values)
        if rule.grants is Grant.TEAM:
            teams |= named
        elif rule.grants is Grant.LEAD:
            led |= named
        else:
            roles |= _NAMED.get(rule.grants, Role.NONE)
    if not matched and any(rule.grants is Grant.MEMBER for rule in rules):
        raise NotMemberError
    return roles, teams, led


def _refuse_overage(claims: Mapping[str, Any], rules: Sequence[ClaimRule]) -> None:
    """Refuse a token that leaves a claim out and says so (OpenID Connect Core 5.6.2; Entra's `hasgroups`).

    Without rules nobody said which claims count, so left-out groups are refused as well.
    """
    elsewhere = claims.get("_claim_names")
    left_out = set(elsewhere) if isinstance(elsewhere, Mapping) else set()
    if claims.get("hasgroups") in (True, "true"):
        left_out.add(_GROUPS_CLAIM)
    used = {rule.claim for rule in rules} or {TEAMS_CLAIM, ROLES_CLAIM, _GROUPS_CLAIM}
    if left_out & {*used, *(path.split(".")[0] for path in used)}:
        raise GroupsOverageError


def _team_ids(org_id: UUID, names: set[str]) -> tuple[UUID, ...]:
    return tuple(sorted(team_id(org_id, name) for name in names))


def _strings(claim: Any) -> list[str]:
    values = [claim] if isinstance(claim, str) else claim
    return [value for value in values if isinstance(value, str) and value] if isinstance(values, list) else []
