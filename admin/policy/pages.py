"""The page of an org's policy: one form for all settings."""

from typing import Any

from flask import Blueprint, Response, make_response, render_template, request, url_for

from admin.forms import number_or_text, problem_of, show_problem, to_page
from admin.policy.rules import Policy
from admin.policy.store import change_policy, read_policy
from memory.audit.authors import author_of
from tenancy.errors import InvalidError
from tenancy.guards import current_caller, guarded, page
from tenancy.services import current_services

doors = Blueprint("policy_pages", __name__)

_NOTICES = {"saved": "The policy is saved and holds from now on."}


@doors.get("/admin/policy")
@guarded(page("org:admin"))
def show_policy() -> Response:
    """Show what holds for everybody in the org."""
    policy, notice = _read(), _NOTICES.get(request.args.get("notice", ""))
    body = render_template(
        "admin_policy.html", values=_values_of(policy), updated_at=policy.updated_at, problem=None, notice=notice
    )
    return make_response(body)


@doors.post("/admin/policy")
@guarded(page("org:admin"))
def save_policy() -> Response:
    """Save all settings of the form, or none and say why."""
    caller, typed = current_caller(), _typed_values()
    changes = {
        **typed,
        "retention": number_or_text(typed["retention"]),
        "allowed_domains": [line.strip() for line in typed["allowed_domains"].splitlines() if line.strip()],
    }
    try:
        with current_services().binder.bound(caller.identity) as connection:
            change_policy(connection, caller.identity, author_of(caller), changes)
    except InvalidError as error:
        problem = problem_of(error, "The policy was not saved")
        here = url_for(".show_policy")
        updated_at = _read().updated_at
        return show_problem("admin_policy.html", error, here=here, values=typed, updated_at=updated_at, problem=problem)
    return to_page(".show_policy", "saved")


def _read() -> Policy:
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        return read_policy(connection, caller.identity)


def _values_of(policy: Policy) -> dict[str, Any]:
    return {
        "memory_default": policy.memory_default,
        "model_writes": policy.model_writes,
        "allowed_domains": "\n".join(policy.allowed_domains),
        "extraction": policy.extraction,
        "retention": str(policy.retention),
        "llm_consent": policy.llm_consent,
    }


def _typed_values() -> dict[str, Any]:
    form = request.form
    return {
        "memory_default": "memory_default" in form,
        "model_writes": form.get("model_writes", ""),
        "allowed_domains": form.get("allowed_domains", "").replace("\r\n", "\n"),
        "extraction": "extraction" in form,
        "retention": form.get("retention", ""),
        "llm_consent": "llm_consent" in form,
    }
