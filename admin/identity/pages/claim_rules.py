"""The editor of a provider's claim rules: rows that are added and removed, a preview, and saving.

Everything typed travels with the form; nothing is stored before it is saved.
"""

from typing import Any
from uuid import UUID

from flask import Blueprint, Response, make_response, render_template, request, url_for

from admin.forms import FormProblem, number_or_text, problem_of, to_page
from admin.identity.acts import change_provider, preview_for
from admin.identity.errors import WouldLockOutError
from admin.identity.pages.provider import find
from admin.identity.records import ConnectedProvider, ProviderChanges
from admin.identity.rules import RULES_AT_MOST
from admin.identity.wording import GRANT_WORDS
from tenancy.errors import ConflictError, DomainError, InvalidError
from tenancy.guards import current_caller, guarded, page
from tenancy.roles import ClaimRule, Grant
from web.problems import status_of

doors = Blueprint("claim_rules_pages", __name__)

_FIELDS = ("claim", "value", "grants", "team")


@doors.get("/admin/identity/<uuid:provider_id>/rules")
@guarded(page("org:admin"))
def show_rules(provider_id: UUID) -> Response:
    """Show the rules for editing."""
    provider = find(provider_id)
    return _show(provider, [_typed_form(rule) for rule in provider.claim_rules])


@doors.post("/admin/identity/<uuid:provider_id>/rules")
@guarded(page("org:admin"))
def edit_rules(provider_id: UUID) -> Response:
    """Add or remove a row, preview, or save, as the button says."""
    provider, typed, act = find(provider_id), _typed(), request.form.get("act", "")
    removed = number_or_text(request.form.get("remove", ""))
    if isinstance(removed, int) and removed < len(typed):
        del typed[removed]
        return _show(provider, typed)
    if act == "add":
        return _show(provider, [*typed, dict.fromkeys(_FIELDS, "")][: RULES_AT_MOST + 1])
    try:
        rules = _rules(typed)
        if act != "save":
            return _show(provider, typed, preview=preview_for(current_caller(), rules))
        confirmed = request.form.get("confirm") == "1"
        change_provider(current_caller(), provider_id, ProviderChanges(claim_rules=rules), confirm=confirmed)
    except (InvalidError, ConflictError) as error:
        title = "The rules were not saved" if act == "save" else "There is no preview"
        return _show(provider, typed, error=error, problem=problem_of(error, title))
    return to_page("provider_pages.show_provider", "rules", provider_id=provider_id)


def _typed() -> list[dict[str, str]]:
    columns = [request.form.getlist(name) for name in _FIELDS]
    rows = zip(*columns, strict=False)
    return [{name: value.strip() for name, value in zip(_FIELDS, row, strict=True)} for row in rows]


def _rules(typed: list[dict[str, str]]) -> tuple[ClaimRule, ...]:
    unknown = {index: {"grants": ["Choose what it gives."]} for index, row in enumerate(typed) if not _known(row)}
    if unknown:
        raise InvalidError("A rule does not say what it gives.", errors={"claim_rules": unknown})
    return tuple(ClaimRule(row["claim"], row["value"], Grant(row["grants"]), row["team"]) for row in typed)


def _known(row: dict[str, str]) -> bool:
    return row["grants"] in set(Grant)


def _typed_form(rule: ClaimRule) -> dict[str, str]:
    return {"claim": rule.claim, "value": rule.value, "grants": rule.grants.value, "team": rule.team}


def _show(
    provider: ConnectedProvider,
    rules: list[dict[str, str]],
    *,
    preview: Any = None,
    error: DomainError | None = None,
    problem: FormProblem | None = None,
) -> Response:
    body = render_template(
        "admin_provider_rules.html",
        provider=provider,
        rules=rules,
        grants=[(grant.value, GRANT_WORDS[grant]) for grant in Grant],
        preview=preview,
        problem=problem,
        locks_out=isinstance(error, WouldLockOutError),
        here=url_for(".show_rules", provider_id=provider.id),
    )
    return make_response(body, status_of(error) if error else 200)
