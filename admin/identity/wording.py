"""How the pages put claim rules and the findings of an examination into words."""

from collections.abc import Iterable

from admin.identity.rules import is_needed_for_sign_in
from tenancy.oidc import Finding
from tenancy.roles import ClaimRule, Grant

GRANT_WORDS = {
    Grant.MEMBER: "Use of Keepline",
    Grant.TEAM: "Member of a team",
    Grant.LEAD: "Lead of a team",
    Grant.REVIEWER: "Reviewer",
    Grant.ADMIN: "Admin",
}
_GIVEN = {
    Grant.MEMBER: "may use Keepline",
    Grant.REVIEWER: "is a reviewer",
    Grant.ADMIN: "is an admin",
}


def describe_findings(findings: Iterable[Finding]) -> list[dict[str, str]]:
    """Return findings as the pages show them; `verdict` is `ok`, `missing`, or `optional`: sign-in works without."""
    return [{"verdict": _verdict(found), "subject": found.subject, "sentence": found.sentence} for found in findings]


def rule_sentence(rule: ClaimRule) -> str:
    """Return a rule as a sentence."""
    part = "leads" if rule.grants is Grant.LEAD else "is in"
    if not rule.value and not rule.team and rule.grants in (Grant.TEAM, Grant.LEAD):
        return f"Whoever has values in {rule.claim} {part} the teams that they name."
    who = f"Whoever has {rule.value} in {rule.claim}" if rule.value else f"Whoever has anything in {rule.claim}"
    given = f"{part} the team {rule.team}" if rule.grants in (Grant.TEAM, Grant.LEAD) else _GIVEN[rule.grants]
    return f"{who} {given}."


def _verdict(found: Finding) -> str:
    if found.ok:
        return "ok"
    return "missing" if is_needed_for_sign_in(found.subject) else "optional"
