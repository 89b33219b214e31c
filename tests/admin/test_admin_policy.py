"""The org's policy: defaults, changes of some of it, what does not fit, and that it is the org's own."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cast import Calls

POLICY = "/v1/org/policy"
DEFAULTS = {
    "memory_default": True, "model_writes": "direct", "allowed_domains": [], "extraction": True, "retention": 365,
    "llm_consent": False, "updated_at": None,
}  # fmt: skip


def test_before_anything_is_decided_the_defaults_hold(admin: Calls) -> None:
    reply = admin.get(POLICY)
    assert (reply.status_code, reply.get_json()) == (200, DEFAULTS)


def test_what_is_sent_changes_and_the_rest_stays(admin: Calls, trail: Callable[[], list[Any]]) -> None:
    first = admin.put(POLICY, {"retention": 30, "allowed_domains": ["Wiki.Example.com"]}).get_json()
    assert first == {**DEFAULTS, "retention": 30, "allowed_domains": ["wiki.example.com"],
                     "updated_at": first["updated_at"]}  # fmt: skip
    assert first["updated_at"].endswith("Z")
    second = admin.put(POLICY, {"model_writes": "confirm", "memory_default": False}).get_json()
    assert second == {**first, "model_writes": "confirm", "memory_default": False, "updated_at": second["updated_at"]}
    assert admin.get(POLICY).get_json() == second
    assert trail() == [
        ("policy.change", "policy", None, {"retention": 30, "allowed_domains": 1}, "user", "demo-console"),
        ("policy.change", "policy", None, {"memory_default": False, "model_writes_confirm": True}, "user",
         "demo-console"),
    ]  # fmt: skip


def test_a_change_of_nothing_leaves_no_entry(admin: Calls, trail: Callable[[], list[Any]]) -> None:
    assert admin.put(POLICY, {}).get_json() == DEFAULTS
    assert admin.put(POLICY, {"retention": 365}).get_json() == DEFAULTS
    assert trail() == []


def test_another_org_s_policy_is_its_own(admin: Calls, stranger_admin: Calls) -> None:
    admin.put(POLICY, {"retention": 7})
    assert stranger_admin.get(POLICY).get_json() == DEFAULTS
    stranger_admin.put(POLICY, {"retention": 8})
    assert admin.get(POLICY).get_json()["retention"] == 7
    assert stranger_admin.get(POLICY).get_json()["retention"] == 8


def test_domains_are_written_as_dns_writes_them_each_once(admin: Calls) -> None:
    sent = ["Bücher.example", "wiki.example.com", "WIKI.example.com.", " intranet ", "xn--bcher-kva.example"]
    reply = admin.put(POLICY, {"allowed_domains": sent}).get_json()
    assert reply["allowed_domains"] == ["xn--bcher-kva.example", "wiki.example.com", "intranet"]
    assert admin.put(POLICY, {"allowed_domains": []}).get_json()["allowed_domains"] == []


@pytest.mark.parametrize(
    "entry",
    [
        "https://wiki.example.com", "wiki.example.com:443", "wiki.example.com/path", "*.example.com", "a b.example",
        "", ".", "a..b", "-a.example", "a-.example", "under_score.example", "10.0.0.1", "[::1]", "x" * 64 + ".example",
        ".".join(["a" * 60] * 5), "me@example.com", "wiki\n.example", "wiki\0.example",
    ],
)  # fmt: skip
def test_what_is_no_domain_is_named_and_nothing_is_changed(admin: Calls, entry: str) -> None:
    reply = admin.put(POLICY, {"retention": 9, "allowed_domains": ["good.example", entry]})
    assert (reply.status_code, reply.get_json()["code"]) == (422, "invalid_request")
    [sentence] = reply.get_json()["errors"]["allowed_domains"]
    assert sentence.startswith(repr(entry)[:50])
    assert sentence in reply.get_json()["detail"]
    assert admin.get(POLICY).get_json() == DEFAULTS


def test_two_hundred_domains_are_kept_and_one_more_is_not(admin: Calls) -> None:
    domains = [f"host{number}.example" for number in range(201)]
    assert admin.put(POLICY, {"allowed_domains": domains}).status_code == 422
    assert len(admin.put(POLICY, {"allowed_domains": domains[:200]}).get_json()["allowed_domains"]) == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("memory_default", 1), ("memory_default", "true"), ("memory_default", None), ("model_writes", "Direct"),
        ("model_writes", ""), ("allowed_domains", "wiki.example.com"), ("allowed_domains", [1]), ("extraction", "no"),
        ("retention", 0), ("retention", 3651), ("retention", 1.5), ("retention", True), ("llm_consent", 0),
        ("org_id", "019a0000-0000-7000-8000-000000000000"), ("updated_at", "2026-01-01T00:00:00Z"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused_by_its_name(admin: Calls, field: str, value: object) -> None:
    reply = admin.put(POLICY, {"extraction": False, field: value})
    assert reply.status_code == 422
    assert set(reply.get_json()["errors"]) == {field}
    assert admin.get(POLICY).get_json() == DEFAULTS


def test_more_than_a_domain_can_have_is_refused_unread(admin: Calls) -> None:
    """A soft hyphen vanishes as a name is read, which takes time that grows with the square of its length."""
    assert admin.put(POLICY, {"allowed_domains": ["a\xad.example"]}).get_json()["allowed_domains"] == ["a.example"]
    reply = admin.put(POLICY, {"allowed_domains": ["\xad" * 300 + "a.example"]})
    assert (reply.status_code, set(reply.get_json()["errors"])) == (422, {"allowed_domains"})


def test_more_domains_than_can_be_kept_are_counted_unread(admin: Calls) -> None:
    most = [f"d{number}.example" for number in range(200)]
    assert admin.put(POLICY, {"allowed_domains": most}).status_code == 200
    reply = admin.put(POLICY, {"allowed_domains": ["no domain", *most]})
    assert reply.get_json()["errors"] == {"allowed_domains": ["There are 201 domains, and at most 200 can be kept."]}


@pytest.mark.parametrize("days", [1, 3650])
def test_retention_may_be_a_day_and_ten_years(admin: Calls, days: int) -> None:
    assert admin.put(POLICY, {"retention": days}).get_json()["retention"] == days
