"""One identity provider: what it is, changing it, its secret, signing in through it, and disconnecting it."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, make_response, render_template, request, url_for

from admin.forms import FormProblem, problem_of, show_problem, to_page
from admin.identity import store
from admin.identity.acts import change_provider, save_provider, sealed_secret
from admin.identity.records import ConnectedProvider, NewSecret, ProviderChanges
from admin.identity.rules import ProviderKey
from admin.identity.wording import rule_sentence
from memory.audit.authors import author_of
from tenancy.errors import ConflictError, DomainError, InvalidError
from tenancy.guards import current_caller, guarded, page
from tenancy.services import current_services

doors = Blueprint("provider_pages", __name__)

_NOTICES = {
    "connected": "The provider is connected. Its tokens are accepted from now on.",
    "saved": "The changes are saved and hold from now on.",
    "rules": "The claim rules are saved. They hold from the next sign-in or token on, for people signed in within "
    "15 minutes.",
    "secret": "The new secret is stored. It is not shown again.",
    "secret_removed": "The stored secret is removed.",
    "sign_in": "From the next sign-in on, people are sent to this provider.",
    "disconnected": "The provider is disconnected. Its tokens are refused, and its people are signed out.",
}


@doors.get("/admin/identity/<uuid:provider_id>")
@guarded(page("org:admin"))
def show_provider(provider_id: UUID) -> Response:
    """Show one provider with what can be done to it."""
    notice = _NOTICES.get(request.args.get("notice", ""))
    return make_response(render_template("admin_provider.html", **_one(provider_id), notice=notice, problem=None))


@doors.post("/admin/identity/<uuid:provider_id>")
@guarded(page("org:admin"))
def save_changes(provider_id: UUID) -> Response:
    """Save client id and scopes."""
    typed = {name: request.form.get(name, "").strip() for name in ("client_id", "scopes")}
    changes = ProviderChanges(client_id=typed["client_id"], scopes=typed["scopes"])
    return _change(provider_id, changes, "saved", "The changes were not saved", typed)


@doors.post("/admin/identity/<uuid:provider_id>/secret")
@guarded(page("org:admin"))
def replace_secret(provider_id: UUID) -> Response:
    """Store a new client secret, or take the stored one away."""
    if request.form.get("remove") == "1":
        if find(provider_id).for_sign_in and request.form.get("confirm") != "1":
            unconfirmed = ConflictError(
                "People sign in through this provider. Where it asks Keepline for the secret, nobody can sign in "
                "without one. Confirm below that it shall go all the same."
            )
            return _refuse(provider_id, unconfirmed, "The secret was not removed", confirm_removal=True)
        return _change(provider_id, ProviderChanges(secret=NewSecret(None)), "secret_removed", "Nothing was removed")
    try:
        secret = sealed_secret(request.form.get("client_secret", "").strip())
    except InvalidError as error:
        return _refuse(provider_id, error, "The secret was not replaced")
    return _change(provider_id, ProviderChanges(secret=secret), "secret", "The secret was not replaced")


@doors.post("/admin/identity/<uuid:provider_id>/reconnect")
@guarded(page("org:admin"))
def reconnect_provider(provider_id: UUID) -> Response:
    """Connect a disconnected provider again, after examining it."""
    known = find(provider_id)
    key = ProviderKey(known.issuer, known.audience, known.claim_name, known.claim_value)
    try:
        save_provider(current_caller(), key, ProviderChanges(), confirm=False)
    except (InvalidError, ConflictError) as error:
        return _refuse(provider_id, error, "The provider was not connected again")
    return to_page(".show_provider", "connected", provider_id=provider_id)


@doors.get("/admin/identity/<uuid:provider_id>/sign-in")
@guarded(page("org:admin"))
def confirm_sign_in(provider_id: UUID) -> Response:
    """Say what changes for people, and ask once more."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        provider = store.find_provider(connection, caller.identity, provider_id)
        current = store.find_for_sign_in(connection, caller.identity)
    return make_response(render_template("admin_provider_sign_in.html", provider=provider, current=current))


@doors.post("/admin/identity/<uuid:provider_id>/sign-in")
@guarded(page("org:admin"))
def use_for_sign_in(provider_id: UUID) -> Response:
    """Let people sign in through this provider from now on, after examining it."""
    if request.form.get("confirm") != "sign-in":
        raise InvalidError("The form does not confirm the change. Nothing was changed.")
    changes = ProviderChanges(for_sign_in=True)
    return _change(provider_id, changes, "sign_in", "People go on signing in as before")


@doors.get("/admin/identity/<uuid:provider_id>/disconnect")
@guarded(page("org:admin"))
def confirm_disconnection(provider_id: UUID) -> Response:
    """Say what will stop working, and ask once more."""
    return make_response(render_template("admin_provider_disconnect.html", provider=find(provider_id)))


@doors.post("/admin/identity/<uuid:provider_id>/disconnect")
@guarded(page("org:admin"))
def disconnect_provider(provider_id: UUID) -> Response:
    """Believe no token of it any more, and end the sessions that began there."""
    caller = current_caller()
    if request.form.get("confirm") != "disconnect":
        raise InvalidError("The form does not confirm that the provider shall be disconnected. Nothing was changed.")
    try:
        with current_services().binder.bound(caller.identity) as connection:
            store.disconnect(connection, caller.identity, author_of(caller), provider_id, caller.provider_id)
    except ConflictError as error:
        return _refuse(provider_id, error, "The provider was not disconnected")
    return to_page(".show_provider", "disconnected", provider_id=provider_id)


def find(provider_id: UUID) -> ConnectedProvider:
    """Return one provider of the caller's org.

    Raises:
        NotFoundError: the org has none of this id.

    """
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        return store.find_provider(connection, caller.identity, provider_id)


def _change(
    provider_id: UUID, changes: ProviderChanges, notice: str, title: str, typed: dict[str, str] | None = None
) -> Response:
    try:
        change_provider(current_caller(), provider_id, changes)
    except (InvalidError, ConflictError) as error:
        return _refuse(provider_id, error, title, typed)
    return to_page(".show_provider", notice, provider_id=provider_id)


def _one(provider_id: UUID) -> dict[str, Any]:
    provider = find(provider_id)
    return {
        "provider": {**asdict(provider), "rule_sentences": [rule_sentence(rule) for rule in provider.claim_rules]},
        "own_provider": current_caller().provider_id,
        "values": {"client_id": provider.client_id, "scopes": provider.scopes},
    }


def _refuse(
    provider_id: UUID,
    error: DomainError,
    title: str,
    typed: dict[str, str] | None = None,
    *,
    confirm_removal: bool = False,
) -> Response:
    shown = _one(provider_id)
    shown["values"] |= typed or {}
    problem: FormProblem = problem_of(error, title)
    here = url_for(".show_provider", provider_id=provider_id)
    return show_problem(
        "admin_provider.html", error, here=here, **shown, problem=problem, confirm_removal=confirm_removal
    )
