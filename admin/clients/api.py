"""The registry of clients over REST: list, register or change, revoke, replace."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response
from marshmallow import fields, validate

from admin.clients import store
from admin.clients.rules import OVERLAP_HOURS_DEFAULT, overlap_of
from memory.audit.authors import author_of
from tenancy.clients import Kind
from tenancy.guards import call, current_caller, guarded
from tenancy.services import current_services
from web.paging import Paging, page_of, read_after
from web.shapes import Shape, Text, UtcTime, WholeNumber, gives, reply_json, takes, takes_query

doors = Blueprint("clients_api", __name__)

_LIST = "clients"


class ClientBody(Shape):
    """A client to register, or what to change of the one with this id."""

    client_id = Text(required=True)
    name = Text(required=True)
    kind = Text(load_default=None, validate=validate.OneOf([kind.value for kind in Kind]))
    scopes = fields.List(Text(), load_default=None, validate=validate.Length(max=100))


class ReplaceBody(Shape):
    """The id that takes a client's place, and for how many hours the old one goes on."""

    client_id = Text(required=True)
    overlap_hours = WholeNumber(load_default=OVERLAP_HOURS_DEFAULT)


class ClientReply(Shape):
    """A registered client; `revoked_at` may lie ahead, then it works until then."""

    id = fields.UUID()
    client_id = Text()
    name = Text()
    kind = Text(attribute="kind.value")
    scopes = fields.List(Text())
    created_at = UtcTime()
    last_used_at = UtcTime()
    revoked_at = UtcTime()
    replaced_by = Text()


class ClientsReply(Shape):
    """A page of the registry, in the order of registration."""

    items = fields.List(fields.Nested(ClientReply))
    next_cursor = Text()


_CLIENT, _CLIENTS = ClientReply(), ClientsReply()


@doors.get("/v1/org/clients")
@guarded(call("org:admin"))
@takes_query(Paging)
@gives(ClientsReply)
def list_clients(query: Mapping[str, Any]) -> Response:
    """Return the programs that the org registered, revoked ones too."""
    caller = current_caller()
    after, limit = read_after(caller, _LIST, query["cursor"]), query["limit"]
    with current_services().binder.bound(caller.identity) as connection:
        found = store.list_clients(connection, caller.identity, limit=limit + 1, after=after)
    shown, next_cursor = page_of(caller, _LIST, found, limit)
    return reply_json(_CLIENTS, {"items": shown, "next_cursor": next_cursor})


@doors.put("/v1/org/clients")
@guarded(call("org:admin"))
@takes(ClientBody)
@gives(ClientReply)
def register_client(body: Mapping[str, Any]) -> Response:
    """Register a client, or change name and scopes of the one with this id."""
    caller = current_caller()
    kind = Kind(body["kind"]) if body["kind"] else None
    with current_services().binder.bound(caller.identity) as connection:
        client = store.register(
            connection,
            caller.identity,
            author_of(caller),
            body["client_id"],
            body["name"],
            kind=kind,
            scopes=body["scopes"],
        )
    return reply_json(_CLIENT, client)


@doors.post("/v1/org/clients/<uuid:record_id>/revoke")
@guarded(call("org:admin"))
@gives(ClientReply)
def revoke_client(record_id: UUID) -> Response:
    """Refuse a client's tokens from now on."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        return reply_json(_CLIENT, store.revoke(connection, caller.identity, author_of(caller), record_id))


@doors.post("/v1/org/clients/<uuid:record_id>/replace")
@guarded(call("org:admin"))
@takes(ReplaceBody)
@gives(ClientReply)
def replace_client(record_id: UUID, body: Mapping[str, Any]) -> Response:
    """Register another id in a client's place, beside which the old one goes on for a while; return the new one."""
    caller, overlap = current_caller(), overlap_of(body["overlap_hours"])
    with current_services().binder.bound(caller.identity) as connection:
        replacement = store.replace(
            connection, caller.identity, author_of(caller), record_id, body["client_id"], overlap
        )
    return reply_json(_CLIENT, replacement)
