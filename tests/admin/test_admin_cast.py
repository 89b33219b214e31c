"""Admins alone decide for an org: everybody else of the cast is refused by each call, whatever its body."""

from collections.abc import Callable

import pytest

from tenancy.guards import GuardedFlask, guard_of
from tests.cast import LOGIN_NAMES, Calls

ID = "019a0000-0000-7000-8000-000000000000"
CALLS = {
    ("GET", "/v1/org/policy"): 200, ("PUT", "/v1/org/policy"): 422, ("GET", "/v1/org/clients"): 200,
    ("PUT", "/v1/org/clients"): 422, ("POST", f"/v1/org/clients/{ID}/revoke"): 404,
    ("POST", f"/v1/org/clients/{ID}/replace"): 422, ("GET", "/v1/org/providers"): 200,
    ("PUT", "/v1/org/providers"): 422, ("POST", f"/v1/org/providers/{ID}/disconnect"): 404,
    ("POST", "/v1/org/providers/test"): 422, ("POST", "/v1/org/providers/preview"): 422,
}  # fmt: skip
NOT_ADMINS = sorted({*LOGIN_NAMES, "stranger-lead", "stranger-reviewer"} - {"admin"})


def ask(calls: Calls, method: str, path: str) -> tuple[int, str | None]:
    """Make a call with a body that fits no shape; return status and code."""
    reply = calls.get(path) if method == "GET" else calls._open(method, path, {"json": {"no_such_field": 1}})
    return reply.status_code, reply.get_json().get("code")


def test_these_are_all_the_calls_of_admins(app: GuardedFlask) -> None:
    served = {
        (method, rule.rule.replace("<uuid:record_id>", ID).replace("<uuid:provider_id>", ID))
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/v1/") and guard_of(app, rule.endpoint).scope == "org:admin"
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert served == set(CALLS)


@pytest.mark.parametrize("name", NOT_ADMINS)
def test_whoever_is_no_admin_is_refused(calls: Callable[..., Calls], name: str) -> None:
    person = calls(name)
    for method, path in CALLS:
        assert ask(person, method, path) == (403, "scope_missing"), (method, path)


@pytest.mark.parametrize("name", ["admin", "stranger-admin"])
def test_an_admin_passes_and_the_admin_s_assistant_does_not(calls: Callable[..., Calls], name: str) -> None:
    program, assistant = calls(name), calls(name, assistant=True)
    for (method, path), status in CALLS.items():
        assert ask(program, method, path)[0] == status, (method, path)
        assert ask(assistant, method, path) == (403, "scope_missing"), (method, path)


def test_an_id_that_is_none_is_missing_too(admin: Calls) -> None:
    for path in ("/v1/org/clients/x/revoke", "/v1/org/providers/x/disconnect"):
        assert ask(admin, "POST", path) == (404, "not_found")
