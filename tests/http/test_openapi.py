"""The description of the API: complete, sound, and made from what is served."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from test_guards import routes_of

from tenancy.guards import Door, guard_of
from tests.cast import Cast
from tests.world import World


@pytest.fixture
def document(world: World) -> dict[str, Any]:
    """The description as anybody gets it."""
    reply = world.app.test_client().get("/v1/openapi.json")
    assert (reply.status_code, reply.mimetype) == (200, "application/json")
    content: dict[str, Any] = reply.get_json()
    return content


def operations_of(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method.upper(), path): operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def references_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for part in value.values():
            yield from references_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from references_in(part)


def test_it_lists_every_call_and_nothing_else(world: World, document: dict[str, Any]) -> None:
    served = {
        (method, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule))
        for rule in world.app.url_map.iter_rules()
        if rule.rule.startswith(("/v1/", "/healthz", "/readyz"))
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert set(operations_of(document)) == served


def test_it_is_openapi_3_1_and_sound(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert document["info"]["title"] == "Keepline"
    assert document["info"]["version"]
    for reference in references_in(document):
        target: Any = document
        for step in reference.removeprefix("#/").split("/"):
            target = target[step]
        assert target
    names = [operation["operationId"] for operation in operations_of(document).values()]
    assert len(names) == len(set(names))
    for (_, path), operation in operations_of(document).items():
        assert operation["summary"]
        assert operation["responses"]
        in_path = {item["name"] for item in operation.get("parameters", []) if item["in"] == "path"}
        assert in_path == set(re.findall(r"{(\w+)}", path))
        for parameter in operation.get("parameters", []):
            assert parameter["schema"]


def test_each_call_names_its_scope_and_its_credential(world: World, document: dict[str, Any]) -> None:
    operations = operations_of(document)
    scopes = {
        (method, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)): guard_of(world.app, rule.endpoint).scope
        for rule in world.app.url_map.iter_rules()
        if guard_of(world.app, rule.endpoint).door is Door.API
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert len(scopes) == len(routes_of(world.app, Door.API))
    for call, scope in scopes.items():
        assert operations[call]["x-scope"] == scope
        assert operations[call]["security"] == [{"bearer": []}]
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_the_shapes_are_those_that_are_served(cast: Cast, document: dict[str, Any]) -> None:
    cast.owner.assistant.write("Likes tea.")
    served = {
        "BlockReply": cast.owner.assistant.get("/v1/memory/block").get_json(),
        "SavedReply": cast.owner.assistant.write("Likes cake.").get_json(),
        "PromptReply": cast.owner.assistant.get("/v1/prompt").get_json(),
        "ChangesReply": cast.owner.assistant.get("/v1/memory/changes").get_json(),
        "Problem": cast.owner.assistant.delete("/v1/memory/block").get_json(),
    }
    schemas = document["components"]["schemas"]
    for name, content in served.items():
        described = set(schemas[name]["properties"])
        assert described <= set(content)
        if name != "Problem":
            assert described == set(content)
    assert schemas["RewriteBody"]["required"] == ["text"]
