"""The pages of registered clients: the list with a form, one client, and the question before it is revoked."""

from typing import Any
from uuid import UUID

from flask import Blueprint, Response, make_response, render_template, request, url_for

from admin.clients import store
from admin.clients.rules import OVERLAP_HOURS_DEFAULT, overlap_of
from admin.clients.wording import describe_client, scope_choices
from admin.forms import FormProblem, number_or_text, problem_of, show_problem, to_page
from admin.rules import faults_of, refuse_faults
from memory.audit.authors import author_of
from tenancy.clients import Kind
from tenancy.errors import ConflictError, InvalidError
from tenancy.guards import current_caller, guarded, page
from tenancy.services import current_services
from web.paging import page_of, read_after

doors = Blueprint("clients_pages", __name__)

_SHOWN = 50
_LIST = "clients page"
_NOTICES = {
    "registered": "The client is registered. Its tokens are accepted from now on.",
    "saved": "The changes are saved and hold from now on.",
    "replaced": "The new client is registered. The old one goes on as long as you said.",
    "revoked": "The client is revoked. Its tokens are refused.",
}


@doors.get("/admin/clients")
@guarded(page("org:admin"))
def show_clients() -> Response:
    """List the clients, with the form that registers one."""
    values = {"name": "", "client_id": "", "kind": Kind.ASSISTANT.value, "scopes": []}
    return make_response(render_template("admin_clients.html", **_list(), values=values, problem=None))


@doors.post("/admin/clients")
@guarded(page("org:admin"))
def register_client() -> Response:
    """Register a client, or say why not and keep what was typed."""
    caller, form = current_caller(), request.form
    values: dict[str, Any] = {
        "name": form.get("name", "").strip(),
        "client_id": form.get("client_id", "").strip(),
        "kind": form.get("kind", ""),
        "scopes": form.getlist("scopes"),
    }
    try:
        refuse_faults(faults_of(kind=None if values["kind"] in set(Kind) else "Choose what kind of program it is."))
        with current_services().binder.bound(caller.identity) as connection:
            client = store.register(
                connection,
                caller.identity,
                author_of(caller),
                values["client_id"],
                values["name"],
                kind=Kind(values["kind"]),
                scopes=values["scopes"] or None,
            )
    except (InvalidError, ConflictError) as error:
        problem = problem_of(error, "The client was not registered")
        here = url_for(".show_clients")
        return show_problem("admin_clients.html", error, here=here, **_list(), values=values, problem=problem)
    return to_page(".show_client", "registered", record_id=client.id)


@doors.get("/admin/clients/<uuid:record_id>")
@guarded(page("org:admin"))
def show_client(record_id: UUID) -> Response:
    """Show one client with what can be done to it."""
    client = _find(record_id)
    return make_response(render_template("admin_client.html", **_one(client), notice=_notice(), problem=None))


@doors.post("/admin/clients/<uuid:record_id>")
@guarded(page("org:admin"))
def change_client(record_id: UUID) -> Response:
    """Save name and scopes."""
    caller, name, scopes = current_caller(), request.form.get("name", "").strip(), request.form.getlist("scopes")
    try:
        with current_services().binder.bound(caller.identity) as connection:
            store.change(connection, caller.identity, author_of(caller), record_id, name, scopes)
    except InvalidError as error:
        return _refuse(record_id, error, problem_of(error, "The changes were not saved"), name=name, scopes=scopes)
    return to_page(".show_client", "saved", record_id=record_id)


@doors.post("/admin/clients/<uuid:record_id>/replace")
@guarded(page("org:admin"))
def replace_client(record_id: UUID) -> Response:
    """Register another id in the client's place."""
    caller, client_id = current_caller(), request.form.get("client_id", "").strip()
    hours = request.form.get("overlap_hours", "")
    try:
        overlap = overlap_of(number_or_text(hours))
        with current_services().binder.bound(caller.identity) as connection:
            new = store.replace(connection, caller.identity, author_of(caller), record_id, client_id, overlap)
    except (InvalidError, ConflictError) as error:
        problem = problem_of(error, "The client was not replaced")
        return _refuse(record_id, error, problem, client_id=client_id, overlap_hours=hours)
    return to_page(".show_client", "replaced", record_id=new.id)


@doors.get("/admin/clients/<uuid:record_id>/revoke")
@guarded(page("org:admin"))
def confirm_revocation(record_id: UUID) -> Response:
    """Say what will stop working, and ask once more."""
    return make_response(render_template("admin_client_revoke.html", client=describe_client(_find(record_id))))


@doors.post("/admin/clients/<uuid:record_id>/revoke")
@guarded(page("org:admin"))
def revoke_client(record_id: UUID) -> Response:
    """Revoke the client."""
    caller = current_caller()
    if request.form.get("confirm") != "revoke":
        raise InvalidError("The form does not confirm that the client shall be revoked. Nothing was changed.")
    with current_services().binder.bound(caller.identity) as connection:
        store.revoke(connection, caller.identity, author_of(caller), record_id)
    return to_page(".show_client", "revoked", record_id=record_id)


@doors.post("/admin/clients/<uuid:record_id>/revive")
@guarded(page("org:admin"))
def revive_client(record_id: UUID) -> Response:
    """Register a revoked client again, for what it was registered for."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        known = store.find_client(connection, caller.identity, record_id, lock=True)
        store.register(connection, caller.identity, author_of(caller), known.client_id, known.name)
    return to_page(".show_client", "registered", record_id=record_id)


def _find(record_id: UUID) -> store.RegisteredClient:
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        return store.find_client(connection, caller.identity, record_id)


def _list() -> dict[str, Any]:
    caller = current_caller()
    after = read_after(caller, _LIST, request.args.get("after"))
    with current_services().binder.bound(caller.identity) as connection:
        found = store.list_clients(connection, caller.identity, limit=_SHOWN + 1, after=after)
    shown, cursor = page_of(caller, _LIST, found, _SHOWN)
    return {
        "clients": [describe_client(client) for client in shown],
        "next_url": url_for(".show_clients", after=cursor) if cursor else None,
        "scopes": scope_choices(),
    }


def _one(client: store.RegisteredClient) -> dict[str, Any]:
    values = {
        "name": client.name,
        "scopes": client.scopes,
        "client_id": "",
        "overlap_hours": str(OVERLAP_HOURS_DEFAULT),
    }
    return {"client": describe_client(client), "scopes": scope_choices(client.kind), "values": values}


def _refuse(record_id: UUID, error: InvalidError | ConflictError, problem: FormProblem, **typed: Any) -> Response:
    shown = _one(_find(record_id))
    shown["values"] |= typed
    here = url_for(".show_client", record_id=record_id)
    return show_problem("admin_client.html", error, here=here, **shown, problem=problem)


def _notice() -> str | None:
    return _NOTICES.get(request.args.get("notice", ""))
