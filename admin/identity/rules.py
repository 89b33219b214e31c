"""Rules of identity providers: what connects one, what a claim rule may say, and what rules make of claims."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from admin.rules import NAME_CHARACTERS, faults_of, text_fault
from tenancy.errors import DomainError
from tenancy.identity import Role
from tenancy.roles import (
    ROLES_CLAIM,
    TEAMS_CLAIM,
    ClaimRule,
    Grant,
    rights_from_claims,
)

ADDRESS_CHARACTERS = 500
RULES_AT_MOST = 100
SCOPES_DEFAULT = "openid profile email"
SECRET_CHARACTERS = 4000
CALLBACK_PATH = "/login/callback"
BACKCHANNEL_PATH = "/logout/backchannel"
_FROM_ROLES = frozenset({Grant.REVIEWER, Grant.ADMIN})
_OF_TEAMS = frozenset({Grant.TEAM, Grant.LEAD})
# RFC 6749, section 3.3: names of scopes, with one space between them.
_SCOPES = re.compile(r"[!#-\[\]-~]+( [!#-\[\]-~]+)*")
# CLAIM=VALUE:GRANT[:TEAM]; the value ends at the first grant.
_RULE = re.compile(rf"(?P<claim>[^=]+)=(?P<value>.*?):(?P<grants>{'|'.join(Grant)})(?::(?P<team>.+))?")
# What examining a provider finds and people can sign in without.
_NOT_NEEDED = frozenset({"Issuer in answers", "Back-channel logout", "Refresh"})


@dataclass(frozen=True)
class ProviderKey:
    """Which tokens a provider stands for; never changes. `claim_name` and `claim_value` are both empty or neither."""

    issuer: str
    audience: str
    claim_name: str = ""
    claim_value: str = ""


@dataclass(frozen=True)
class Preview:
    """What claim rules make of one person's claims; `matched` is by rule, `problem` a sentence where they give nothing.

    `claims` holds the values that the rules read, by claim.
    """

    claims: Mapping[str, Sequence[str]]
    matched: Sequence[bool]
    roles: Sequence[str] = ()
    teams: Sequence[str] = ()
    led_teams: Sequence[str] = ()
    problem: str | None = None


def preview(org_id: UUID, claims: Mapping[str, Any], rules: Sequence[ClaimRule]) -> Preview:
    """Return what the rules would give the person of these claims; without rules, what the plain claims give."""
    read = {name: _values_of(claims, name) for name in _claims_read(rules)}
    matched = [bool(rule.matches(claims)) for rule in rules]
    try:
        rights = rights_from_claims(org_id, claims, rules)
    except DomainError as error:
        return Preview(read, matched, problem=error.detail)
    roles = [role.name.lower() for role in Role if role in rights.roles and role.name]
    return Preview(read, matched, roles, rights.teams, rights.led_teams)


def keeps_admin(org_id: UUID, claims: Mapping[str, Any], rules: Sequence[ClaimRule]) -> bool:
    """Return whether the person of these claims is an admin under the rules."""
    try:
        return Role.ADMIN in rights_from_claims(org_id, claims, rules).roles
    except DomainError:
        return False


def is_needed_for_sign_in(subject: str) -> bool:
    """Return whether people can't sign in while this finding of an examination is not in order."""
    return subject not in _NOT_NEEDED


def key_faults(key: ProviderKey) -> dict[str, Any]:
    """Return what is wrong with what a provider stands for."""
    faults = faults_of(
        issuer=text_fault(key.issuer, ADDRESS_CHARACTERS),
        audience=text_fault(key.audience, ADDRESS_CHARACTERS),
        claim_name=text_fault(key.claim_name) if key.claim_name else None,
        claim_value=text_fault(key.claim_value) if key.claim_value else None,
    )
    if bool(key.claim_name) != bool(key.claim_value):
        missing = "claim_value" if key.claim_name else "claim_name"
        faults |= faults_of(**{missing: "A claim that tells orgs apart needs both a name and a value."})
    return faults


def client_id_fault(client_id: str) -> str | None:
    """Return what is wrong with the id by which sign-ins go to the provider, or None."""
    return text_fault(client_id)


def secret_fault(secret: str) -> str | None:
    """Return what is wrong with a client secret, or None; nothing of it is repeated."""
    return text_fault(secret, SECRET_CHARACTERS)


def scopes_fault(scopes: str) -> str | None:
    """Return what is wrong with what a sign-in asks for, or None."""
    if len(scopes) > ADDRESS_CHARACTERS or _SCOPES.fullmatch(scopes) is None:
        return "Names of scopes with one space between them, at most 500 characters."
    if "openid" not in scopes.split(" "):
        return "Must hold openid: without it the provider does not say who somebody is."
    return None


def rules_faults(rules: Sequence[ClaimRule]) -> dict[str, Any]:
    """Return what is wrong with claim rules, by the rule's index and its field."""
    if len(rules) > RULES_AT_MOST:
        return faults_of(claim_rules=f"There are {len(rules)} rules, and at most {RULES_AT_MOST} can be kept.")
    faults = {index: found for index, rule in enumerate(rules) if (found := rule_faults(rule))}
    return {"claim_rules": faults} if faults else {}


def rule_faults(rule: ClaimRule) -> dict[str, Any]:
    """Return what is wrong with one claim rule, by its field."""
    faults = faults_of(
        claim=text_fault(rule.claim),
        value=text_fault(rule.value) if rule.value else None,
        team=text_fault(rule.team) if rule.team else None,
    )
    if rule.grants in _FROM_ROLES and not rule.value:
        faults |= faults_of(value=f"Name the value that gives {rule.grants}: without one, every value would.")
    if rule.grants in _OF_TEAMS and rule.value and not rule.team:
        faults |= faults_of(team="Name the team, or leave the value empty: then each value is a team's name.")
    if rule.grants not in _OF_TEAMS and rule.team:
        faults |= faults_of(team=f"A rule that gives {rule.grants} names no team.")
    return faults


def rule_from_text(text: str) -> ClaimRule | None:
    """Read CLAIM=VALUE:GRANT or CLAIM=VALUE:GRANT:TEAM, or return None; the value may hold colons."""
    found = _RULE.fullmatch(text)
    if found is None:
        return None
    return ClaimRule(found["claim"], found["value"], Grant(found["grants"]), found["team"] or "")


def _claims_read(rules: Sequence[ClaimRule]) -> list[str]:
    return list(dict.fromkeys(rule.claim for rule in rules)) or [TEAMS_CLAIM, ROLES_CLAIM]


def _values_of(claims: Mapping[str, Any], name: str) -> list[str]:
    return [value[:NAME_CHARACTERS] for value in ClaimRule(name, "", Grant.MEMBER).matches(claims)]
