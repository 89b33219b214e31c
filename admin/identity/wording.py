"""How the pages put a claim rule into words."""

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


def rule_sentence(rule: ClaimRule) -> str:
    """Return a rule as a sentence."""
    part = "leads" if rule.grants is Grant.LEAD else "is in"
    if not rule.value and not rule.team and rule.grants in (Grant.TEAM, Grant.LEAD):
        return f"Whoever has values in {rule.claim} {part} the teams that they name."
    who = f"Whoever has {rule.value} in {rule.claim}" if rule.value else f"Whoever has anything in {rule.claim}"
    given = f"{part} the team {rule.team}" if rule.grants in (Grant.TEAM, Grant.LEAD) else _GIVEN[rule.grants]
    return f"{who} {given}."
