"""The description of the API (OpenAPI 3.1), made from the routes themselves, so that it can't fall behind."""

import re
import warnings
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Flask

from tenancy.guards import Door, Guard, guard_of
from web.shapes import Shape, Text, UtcTime

_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string", "description": "Stable; programs decide by it."},
        "request_id": {"type": "string"},
    },
}


def describe(app: Flask) -> dict[str, Any]:
    """Return the description of every route under /v1 and of the two health checks."""
    plugin = MarshmallowPlugin(schema_name_resolver=_schema_name)
    spec = APISpec(
        title="Keepline",
        version="1",
        openapi_version="3.1.0",
        info={"description": "The long-term memory of a company's shared AI assistant."},
        plugins=[plugin],
    )
    plugin.map_to_openapi_type(Text, "string", None)  # type: ignore[no-untyped-call] # apispec's own
    plugin.map_to_openapi_type(UtcTime, "string", "date-time")  # type: ignore[no-untyped-call] # the same
    spec.components.schema("Problem", _PROBLEM)
    spec.components.security_scheme("bearer", {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"})
    for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule):
        if not rule.rule.startswith(("/v1/", "/healthz", "/readyz")):
            continue
        view, guard = app.view_functions[rule.endpoint], guard_of(app, rule.endpoint)
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        methods = (rule.methods or set()) - {"HEAD", "OPTIONS"}
        with warnings.catch_warnings():
            # apispec warns where two routes share a shape under one name, which is what is meant here
            warnings.simplefilter("ignore", UserWarning)
            spec.path(
                path=path, operations={method.lower(): _operation(view, guard, rule.arguments) for method in methods}
            )
    return spec.to_dict()


def _operation(view: Any, guard: Guard, arguments: set[str]) -> dict[str, Any]:
    summary = (view.__doc__ or "").strip().split("\n")[0]
    gives: type[Shape] | None = getattr(view, "gives", None)
    content = {"application/json": {"schema": gives}} if gives else {"application/json": {"schema": {"type": "object"}}}
    operation: dict[str, Any] = {
        "operationId": view.__name__,
        "summary": summary,
        "responses": {
            "200": {"description": "Done", "content": content},
            "default": {
                "description": "What happened, what was kept, and what to do",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
            },
        },
    }
    parameters: list[Any] = [
        {"in": "path", "name": name, "required": True, "schema": {"type": "string"}} for name in sorted(arguments)
    ]
    if getattr(view, "takes_query", None):
        parameters.append({"in": "query", "schema": view.takes_query})
    if parameters:
        operation["parameters"] = parameters
    if getattr(view, "takes", None):
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": view.takes}}}
    if guard.door is Door.API:
        operation["security"] = [{"bearer": []}]
        operation["x-scope"] = guard.scope
    return operation


def _schema_name(schema: Any) -> str:
    shape = schema if isinstance(schema, type) else type(schema)
    return shape.__name__
