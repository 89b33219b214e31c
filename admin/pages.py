"""The landing page of admins: what there is to decide, each with its state in one line."""

from typing import NamedTuple

from flask import Blueprint, Response, make_response, render_template

from admin.clients.store import count_in_force
from admin.identity.store import find_for_sign_in
from admin.policy.store import read_policy
from tenancy.guards import current_caller, guarded, page
from tenancy.services import current_services

doors = Blueprint("admin_pages", __name__)


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
        used = find_for_sign_in(connection, caller.identity)
        registered = count_in_force(connection, caller.identity)
        policy = read_policy(connection, caller.identity)
    places = [
        Place(
            "Identity providers", "/admin/identity", f"People sign in through {used.issuer}" if used else "None is used"
        ),
        Place("Clients", "/admin/clients", f"{registered:,} registered" if registered else "None is registered"),
        Place(
            "Policy",
            "/admin/policy",
            f"Memory is {'on' if policy.memory_default else 'off'} for new people; "
            + ("decided" if policy.updated_at else "nothing was changed from the defaults"),
        ),
    ]
    return make_response(render_template("admin.html", places=places))
