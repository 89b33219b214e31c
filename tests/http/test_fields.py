"""What calls take: no field that says who somebody is, numbers in plain digits, and no query that nobody reads."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from marshmallow import RAISE, Schema, fields
from test_guards import routes_of
from test_problems import problem

from tenancy.guards import Door
from tests.cast import Cast, Person
from tests.world import WEB_PORT, World
from web.shapes import QueryNumber, Shape, WholeNumber

BLOCK = "/v1/memory/block"
METADATA = "/.well-known/oauth-protected-resource/v1"
WHO = ("org_id", "user_id", "tenant_id", "role", "roles", "scopes_held", "writer", "visibility", "owner", "author")


def taking(app: Flask, mark: str) -> list[tuple[str, str, type[Schema]]]:
    """Method, address and shape of every route that takes a body, or a query."""
    adapter = app.url_map.bind("127.0.0.1")
    found = []
    for method, address, _ in routes_of(app):
        endpoint, _ = adapter.match(address, method)
        shape = getattr(app.view_functions[endpoint], mark, None)
        if shape is not None:
            found.append((method, address, shape))
    return found


def caller_for(cast: Cast, address: str) -> Person:
    return cast.admin if address.startswith("/v1/org/") else cast.owner


def all_fields(schema: Schema) -> Iterator[tuple[Schema, str, fields.Field[Any]]]:
    for name, field in schema.fields.items():
        yield schema, name, field
        inner = field.inner if isinstance(field, fields.List) else field
        if isinstance(inner, fields.Nested):
            yield from all_fields(inner.schema)


def test_no_body_may_say_who_somebody_is_or_who_may_see(world: World, cast: Cast) -> None:
    """They follow from the credential; a body that names one is refused whole."""
    routes = taking(world.app, "takes")
    assert len(routes) >= 2
    for method, address, shape in routes:
        calls = caller_for(cast, address).program
        forbidden = [name for name in WHO if name not in shape().fields]
        assert set(WHO[:5]) <= set(forbidden), (method, address)
        for name in forbidden:
            reply = calls._open(method, address, {"json": {name: str(cast.stranger.user_id)}})
            assert name in problem(reply, 422, "invalid_request")["errors"], (method, address, name)
    assert world.rows("SELECT count(*) FROM app.blocks") == [(0,)]


def test_no_shape_of_a_body_names_an_owner_at_any_depth(world: World) -> None:
    for mark in ("takes", "takes_query"):
        for method, address, shape in taking(world.app, mark):
            for inside, name, field in all_fields(shape()):
                assert inside.unknown == RAISE, (method, address, type(inside))
                assert name not in ("org_id", "user_id", "tenant_id", "writer", "visibility"), (method, address, name)
                if isinstance(field, fields.Integer):
                    assert isinstance(field, WholeNumber), (method, address, name)


@pytest.mark.parametrize(
    "limit", ["1_0", "+5", " 5", "5 ", "5.0", "1e1", "0x5", "٥", "５", "", "5\n", "9" * 19, "9" * 5_000, "true", "NaN"]
)
def test_a_number_in_a_query_is_plain_digits(limit: str, cast: Cast) -> None:
    reply = cast.owner.assistant.get("/v1/memory/changes", query_string={"limit": limit})
    assert set(problem(reply, 422, "invalid_request")["errors"]) == {"limit"}
    assert cast.owner.assistant.get("/v1/memory/changes?limit=5").status_code == 200


@pytest.mark.parametrize(("value", "number"), [(5, 5), ("5", 5), (-5, -5), ("-5", -5), (0, 0), (10**30, 10**30)])
def test_a_whole_number_is_taken(value: Any, number: int) -> None:
    assert Shape.from_dict({"n": QueryNumber()})().load({"n": value}) == {"n": number}
    if isinstance(value, str):  # in a body, a number is a number
        assert set(Shape.from_dict({"n": WholeNumber()})().validate({"n": value})) == {"n"}


@pytest.mark.parametrize("value", [True, False, 5.0, 5.5, "5_0", "--5", "", [], {}, float("inf")])
def test_what_only_counts_as_a_number_is_not_taken(value: Any) -> None:
    assert set(Shape.from_dict({"n": WholeNumber()})().validate({"n": value})) == {"n"}


def test_a_query_that_a_read_does_not_take_is_refused(world: World, cast: Cast) -> None:
    for method, address, _ in routes_of(world.app, Door.API):
        if method == "GET":
            calls = caller_for(cast, address).program
            for sent in ("GET", "HEAD"):
                reply = calls._open(sent, address, {"query_string": {"odd": "1"}})
                assert reply.status_code == 422, (sent, address)
            content = problem(calls.get(address, query_string={"odd": "1"}), 422, "invalid_request")
            assert set(content["errors"]) == {"odd"}
    assert cast.owner.assistant.get(f"{BLOCK}?").status_code == 200


def test_a_query_is_read_by_nobody_who_may_not_ask(world: World, cast: Cast) -> None:
    assert world.app.test_client().get(f"{BLOCK}?odd=1").status_code == 401
    assert cast.owner.program.get("/v1/org/policy?odd=1").status_code == 403


def test_a_parameter_given_twice_is_refused(cast: Cast) -> None:
    for query in ("limit=5&limit=6", "limit=5&limit=5"):
        reply = cast.owner.assistant.get(f"/v1/memory/changes?{query}")
        assert set(problem(reply, 422, "invalid_request")["errors"]) == {"limit"}


def test_the_protected_resource_describes_itself_and_names_no_customer(world: World) -> None:
    """RFC 9728: at the path that follows from the resource's, and named in every refusal of a credential."""
    client = world.app.test_client()
    reply = client.get(METADATA)
    assert (reply.status_code, reply.mimetype) == (200, "application/json")
    assert reply.headers["Cache-Control"] == "public, max-age=3600"
    assert "Set-Cookie" not in reply.headers
    content = reply.get_json()
    assert set(content) == {"resource", "resource_name", "bearer_methods_supported", "scopes_supported"}
    assert content["resource"] == f"http://127.0.0.1:{WEB_PORT}/v1"
    assert content["bearer_methods_supported"] == ["header"]
    assert {"memory:read", "memory:write", "memory:manage"} <= set(content["scopes_supported"])
    refused = client.get(BLOCK)
    assert f'resource_metadata="http://127.0.0.1:{WEB_PORT}{METADATA}"' in refused.headers["WWW-Authenticate"]
    for path in ("/.well-known/oauth-protected-resource", f"{METADATA}/", f"{METADATA}/memory", "/.well-known/"):
        missing = client.get(path)
        problem(missing, 404, "not_found")
        assert missing.headers["Cache-Control"] == "private, no-store"
    elsewhere = client.get(METADATA, headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"})
    assert elsewhere.get_json() == content
