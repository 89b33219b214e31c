"""What operators and programs ask the service itself: whether it lives, is ready, and what its API is."""

from flask import Blueprint, Response, current_app, jsonify, make_response

from tenancy.clients import USER_SCOPES
from tenancy.errors import UnavailableError
from tenancy.guards import PUBLIC, guarded
from tenancy.migrate import expected_revision
from tenancy.services import current_services
from web.openapi import describe
from web.problems import METADATA_PATH

doors = Blueprint("service", __name__)


class NotReadyError(UnavailableError):
    """The service runs, and something it needs is not as it should be."""

    code = "not_ready"
    title = "Not ready"


@doors.get("/healthz")
@guarded(PUBLIC)
def show_health() -> Response:
    """Answer that the process lives."""
    return jsonify(status="ok")


@doors.get("/readyz")
@guarded(PUBLIC)
def show_readiness() -> Response:
    """Answer whether database, migrations and policies are as this code needs them."""
    applied = current_services().binder.readiness()
    if applied is None:
        raise NotReadyError("The database was never migrated. Run `keepline migrate`.")
    revision, policies_intact = applied
    if revision != expected_revision():
        raise NotReadyError("The database is at another revision than this code. Run `keepline migrate`.")
    if not policies_intact:
        raise NotReadyError(
            "Policies, grants, functions or roles are not those that the last migrate left. Find out who changed them, "
            "then run `keepline migrate`."
        )
    return jsonify(status="ok")


@doors.get(METADATA_PATH)
@guarded(PUBLIC)
def show_resource_metadata() -> Response:
    """Answer what a program needs to know before it asks for a token (RFC 9728, section 2).

    It names no authorization server: the list of all would tell strangers whose employees use Keepline.
    """
    return jsonify(
        resource=f"{current_services().settings.public_url}/v1",
        resource_name="Keepline",
        bearer_methods_supported=["header"],
        scopes_supported=sorted(USER_SCOPES),
    )


@doors.get("/v1/openapi.json")
@guarded(PUBLIC)
def show_openapi() -> Response:
    """Answer the description of the API."""
    return make_response(jsonify(describe(current_app)))
