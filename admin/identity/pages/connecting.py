"""The list of an org's identity providers, with the form that tests one and connects it."""

from typing import Any

from flask import Blueprint, Response, make_response, render_template, request, url_for

from admin.forms import problem_of, show_problem, to_page
from admin.identity.acts import save_provider, sealed_secret
from admin.identity.records import ProviderChanges
from admin.identity.rules import (
    ADDRESS_CHARACTERS,
    BACKCHANNEL_PATH,
    CALLBACK_PATH,
    SCOPES_DEFAULT,
    ProviderKey,
    key_faults,
)
from admin.identity.store import find_by_key, list_providers
from admin.identity.wording import describe_findings
from admin.rules import faults_of, refuse_faults, text_fault
from tenancy.errors import ConflictError, InvalidError
from tenancy.guards import current_caller, guarded, page
from tenancy.oidc import Finding
from tenancy.services import current_services
from web.paging import page_of, read_after

doors = Blueprint("identity_pages", __name__)

_SHOWN = 50
_LIST = "providers page"
_FIELDS = ("issuer", "audience", "client_id", "claim_name", "claim_value", "scopes")


@doors.get("/admin/identity")
@guarded(page("org:admin"))
def show_providers() -> Response:
    """List the providers, with the form that connects one."""
    values = {**dict.fromkeys(_FIELDS, ""), "scopes": SCOPES_DEFAULT}
    return make_response(render_template("admin_identity.html", **_list(), values=values, problem=None, findings=None))


@doors.post("/admin/identity/test")
@guarded(page("org:admin"))
def test_provider() -> Response:
    """Read what the provider publishes and say, point by point, whether Keepline can work with it."""
    values = _typed()
    try:
        refuse_faults(faults_of(issuer=text_fault(values["issuer"], ADDRESS_CHARACTERS)))
    except InvalidError as error:
        return _refuse(error, "There is nothing to test", values)
    findings = describe_findings(current_services().providers.examine(values["issuer"]))
    here = url_for(".show_providers")
    body = render_template("admin_identity.html", **_list(), values=values, problem=None, findings=findings, here=here)
    return make_response(body)


@doors.post("/admin/identity")
@guarded(page("org:admin"))
def connect_provider() -> Response:
    """Connect the provider, or say why not and keep what was typed, all but the secret."""
    values, secret = _typed(), request.form.get("client_secret", "").strip()
    key = ProviderKey(values["issuer"], values["audience"], values["claim_name"], values["claim_value"])
    try:
        _refuse_connected(key)
        changes = ProviderChanges(
            client_id=values["client_id"],
            scopes=values["scopes"],
            secret=sealed_secret(secret) if secret else None,
        )
        provider = save_provider(current_caller(), key, changes, confirm=False)
    except (InvalidError, ConflictError) as error:
        return _refuse(error, "The provider was not connected", values)
    return to_page("provider_pages.show_provider", "connected", provider_id=provider.id)


def _typed() -> dict[str, str]:
    return {name: request.form.get(name, "").strip() for name in _FIELDS}


def _refuse_connected(key: ProviderKey) -> None:
    """Refuse to change, by the form that connects one, a provider that is connected already."""
    if key_faults(key):
        return
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        known = find_by_key(connection, caller.identity, key)
    if known is not None and known.disconnected_at is None:
        raise ConflictError(
            "You have connected this issuer and audience already. Nothing was changed. To change it, open it in the "
            "list on this page."
        )


def _list() -> dict[str, Any]:
    caller, settings = current_caller(), current_services().settings
    after = read_after(caller, _LIST, request.args.get("after"))
    with current_services().binder.bound(caller.identity) as connection:
        found = list_providers(connection, caller.identity, limit=_SHOWN + 1, after=after)
    shown, cursor = page_of(caller, _LIST, found, _SHOWN)
    addresses = {
        "redirect": f"{settings.public_url}{CALLBACK_PATH}",
        "logout": f"{settings.public_url}{BACKCHANNEL_PATH}",
    }
    return {
        "providers": shown,
        "next_url": url_for(".show_providers", after=cursor) if cursor else None,
        "own_provider": caller.provider_id,
        "addresses": addresses,
    }


def _refuse(error: InvalidError | ConflictError, title: str, values: dict[str, str]) -> Response:
    problem = problem_of(error, title)
    here = url_for(".show_providers")
    findings = describe_findings(Finding(**found) for found in error.fields.get("findings", ()))
    return show_problem(
        "admin_identity.html", error, here=here, **_list(), values=values, problem=problem, findings=findings
    )
