"""The landing page of admins: what there is to decide, each with its state in one line."""

from typing import NamedTuple

from flask import Blueprint, Response, make_response, render_template

from admin.clients.store import list_clients
from admin.identity.store import list_providers
from admin.policy.store import read_policy
from tenancy.guards import current_caller, guarded, page
from tenancy.services import current_services

doors = Blueprint("admin_pages", __name__)

_COUNTED = 100


class Place(NamedTuple):
    """A page of admins, and its state in a line."""

    label: str
    href: str
    state: str


@doors.get("/admin")
@guarded(page("org:admin"))
def show_admin() -> Response:
    """Show where what is decided."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        providers = list_providers(connection, caller.identity, limit=_COUNTED)
        clients = list_clients(connection, caller.identity, limit=_COUNTED + 1)
        policy = read_policy(connection, caller.identity)
    used = next((found.issuer for found in providers if found.for_sign_in and not found.disconnected_at), None)
    in_force = sum(client.in_force for client in clients)
    count = f"over {_COUNTED}" if len(clients) > _COUNTED else f"{in_force:,}"
    places = [
        Place("Identity providers", "/admin/identity", f"People sign in through {used}" if used else "None is used"),
        Place("Clients", "/admin/clients", f"{count} registered" if in_force else "None registered yet"),
        Place(
            "Policy",
            "/admin/policy",
            f"Memory is {'on' if policy.memory_default else 'off'} for new people; "
            + ("decided" if policy.updated_at else "nothing was changed from the defaults"),
        ),
    ]
    return make_response(render_template("admin.html", places=places))
