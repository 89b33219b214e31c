"""Errors that callers can make: problem details of one shape, the right status, and never a 500."""

from io import BytesIO
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.cast import Calls, Cast
from tests.world import World

BLOCK = "/v1/memory/block"


def put(calls: Calls, body: bytes, content_type: str | None = "application/json") -> TestResponse:
    return calls.client.put(
        BLOCK, data=body, content_type=content_type, headers={"Authorization": f"Bearer {calls.token}"}
    )


def problem(reply: TestResponse, status: int, code: str) -> dict[str, Any]:
    content: dict[str, Any] = reply.get_json()
    assert (reply.status_code, reply.mimetype, content["code"]) == (status, "application/problem+json", code)
    assert content["status"] == status
    assert content["type"] == f"urn:keepline:problem:{code}"
    assert content["title"]
    assert content["detail"]
    assert content["request_id"] == reply.headers["X-Request-Id"]
    return content


@pytest.mark.parametrize("path", ["/v1/nowhere", "/v1/", "/v1/memory/block/", "/v1/%00", "/v1/%ff", "/.well-known/x"])
def test_an_unknown_call_is_not_found(path: str, world: World, cast: Cast) -> None:
    problem(world.app.test_client().get(path), 404, "not_found")
    problem(cast.owner.assistant.get(path), 404, "not_found")


@pytest.mark.parametrize(
    "path", ["/nowhere", "/settings/memory/", "/static/nowhere.css", "/%00", "//evil.example/%2e%2e"]
)
def test_an_unknown_page_is_a_page_that_says_so(path: str, world: World, cast: Cast) -> None:
    for client in (world.app.test_client(), cast.owner.browser()):
        reply = client.get(path)
        assert (reply.status_code, reply.mimetype) == (404, "text/html")
        assert 'id="error-sentence"' in reply.text


@pytest.mark.parametrize(
    ("method", "path"), [("POST", BLOCK), ("PATCH", BLOCK), ("DELETE", "/v1/prompt"), ("TRACE", BLOCK)]
)
def test_another_method_is_answered_with_those_there_are(method: str, path: str, cast: Cast) -> None:
    reply = cast.owner.assistant._open(method, path, {})
    problem(reply, 405, "method_not_allowed")
    assert "GET" in reply.headers["Allow"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"{'text': 1}", b'{"text": "x"', b'{"text": NaN}', b'{"text": Infinity}', b'{"text": -Infinity}',
        b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b'{"text": "\xff"}', b'{"text": "\xed\xa0\xbd"}',
        b'\xef\xbb\xbf{"text": "x"}', '{"text": "x"}'.encode("utf-16"), b'{"text": "a\nb"}', b"1" * 5_000,
        b'{"text": "x"} trailing', b'{"text": "x\\u12"}',
    ],
    ids=lambda body: repr(body[:20]),
)  # fmt: skip
def test_a_body_that_is_not_json_is_malformed(body: bytes, cast: Cast) -> None:
    problem(put(cast.owner.assistant, body), 400, "malformed")
    assert cast.owner.assistant.get(BLOCK).get_json()["exists"] is False


def test_json_that_nests_as_deep_as_is_read_does_not_fit_but_is_no_fault(cast: Cast) -> None:
    for depth in (50, 500, 900, 990):
        reply = put(cast.owner.assistant, b'{"text": ' + b"[" * depth + b"]" * depth + b"}")
        assert reply.status_code in (400, 422)
        unknown = put(cast.owner.assistant, b'{"x": ' * depth + b"1" + b"}" * depth)
        assert unknown.status_code in (400, 422)


@pytest.mark.parametrize(
    "content_type", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x"]
)
def test_a_body_of_another_type_is_refused(content_type: str | None, cast: Cast) -> None:
    problem(put(cast.owner.assistant, b'{"text": "x"}', content_type), 415, "media_type")


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "application/merge-patch+json"])
def test_json_is_read_by_its_name_with_or_without_parameters(content_type: str, cast: Cast) -> None:
    assert put(cast.owner.assistant, b'{"text": "x"}', content_type).status_code == 200


def test_a_body_of_10_mb_is_too_large_by_call_and_by_form(cast: Cast) -> None:
    large = b'{"text": "' + b"x" * 10_000_000 + b'"}'
    problem(put(cast.owner.assistant, large), 413, "too_large")
    form = cast.owner.browser().post("/settings/memory", data={"text": "x" * 10_000_000})
    assert (form.status_code, form.mimetype) == (413, "text/html")
    assert "less than 1 MB" in form.text


def test_a_body_that_does_not_say_its_length_is_refused_when_it_is_too_large(cast: Cast) -> None:
    calls = cast.owner.assistant
    reply = calls.client.put(
        BLOCK,
        input_stream=BytesIO(b"[" * 3_000_000),
        content_type="application/json",
        headers={"Authorization": f"Bearer {calls.token}"},
        environ_overrides={"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},  # else the client computes one
    )
    problem(reply, 413, "too_large")


def test_fields_that_do_not_fit_are_named(cast: Cast) -> None:
    content = problem(cast.owner.assistant.put(BLOCK, {"said": 5, "odd": 1}), 422, "invalid_request")
    assert set(content["errors"]) == {"text", "said", "odd"}
    assert all(name in content["detail"] for name in ("text", "said", "odd"))


def test_a_field_name_that_no_file_can_hold_is_named_all_the_same(cast: Cast) -> None:
    reply = put(cast.owner.assistant, b'{"\\ud83d": 1, "text": "x", "": 2, "\\u0000": 3}')
    problem(reply, 422, "invalid_request")
    reply.get_data().decode("utf-8")


def test_checks_come_in_order(cast: Cast, world: World) -> None:
    """401, 403, 400 or 413 or 415, then what the text itself is refused for."""
    broken, anonymous = b"{", world.app.test_client()
    assert anonymous.put(BLOCK, data=broken).status_code == 401
    forbidden = cast.owner.assistant.client.put(
        "/v1/memory/switch", data=broken, headers={"Authorization": f"Bearer {cast.owner.assistant.token}"}
    )
    assert forbidden.status_code == 403
    assert put(cast.owner.assistant, broken, "text/plain").status_code == 415
    assert put(cast.owner.assistant, broken).status_code == 400
    cast.owner.program.put("/v1/memory/switch", {"on": False})
    assert put(cast.owner.assistant, broken).status_code == 400
    assert cast.owner.assistant.write("", conversation_id="bad id").status_code == 422
    problem(cast.owner.assistant.write("x" * 4_001), 403, "memory_off")


@pytest.mark.parametrize(
    "path",
    ["/settings/memory?notice=saved&added=x&removed=" + "9" * 5_000, "/settings/memory?notice=%00%ff",
     "/login?next=%ff", "/login?org=%00", "/login/callback?code=%00&state=%ff&iss=%00",
     "/login/callback?error=%3Cscript%3E", "/?notice=x"],
)  # fmt: skip
def test_odd_queries_break_no_page(path: str, world: World, cast: Cast) -> None:
    for client in (world.app.test_client(), cast.owner.browser()):
        reply = client.get(path)
        assert reply.status_code < 500
        assert "<script>" not in reply.text
