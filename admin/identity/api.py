"""Identity providers over REST: list, connect or change, disconnect, test, and preview claim rules."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import Blueprint, Response
from marshmallow import fields, validate

from admin.identity import store
from admin.identity.acts import preview_for, save_provider, sealed_secret
from admin.identity.records import ProviderChanges
from admin.identity.rules import ADDRESS_CHARACTERS, BACKCHANNEL_PATH, CALLBACK_PATH, ProviderKey
from admin.rules import faults_of, refuse_faults, text_fault
from memory.audit.authors import author_of
from tenancy.guards import call, current_caller, guarded
from tenancy.roles import ClaimRule, Grant, stored_rules
from tenancy.services import current_services
from web.paging import Paging, page_of, read_after
from web.shapes import Flag, Shape, Text, UtcTime, gives, reply_json, takes, takes_query

doors = Blueprint("identity_api", __name__)

_LIST = "providers"


class ClaimRuleShape(Shape):
    """Whoever has the value in the claim is given what it grants; without a value, each value names a team."""

    claim = Text(required=True)
    value = Text(load_default="")
    grants = Text(required=True, validate=validate.OneOf([grant.value for grant in Grant]))
    team = Text(load_default="")


class ProviderBody(Shape):
    """A provider to connect, or what to change of the one that the org has for these tokens.

    `client_secret` left out keeps the stored one, null takes it away.
    """

    issuer = Text(required=True)
    audience = Text(required=True)
    client_id = Text(load_default=None)
    client_secret = Text(allow_none=True)
    claim_name = Text(load_default="")
    claim_value = Text(load_default="")
    scopes = Text(load_default=None)
    claim_rules = fields.List(fields.Nested(ClaimRuleShape), load_default=None)
    for_sign_in = Flag(load_default=None)
    confirm = Flag(load_default=False)


class ProviderReply(Shape):
    """A provider of the org; of its client secret, only where it is."""

    id = fields.UUID()
    issuer = Text()
    audience = Text()
    client_id = Text()
    claim_name = Text()
    claim_value = Text()
    scopes = Text()
    claim_rules = fields.Function(lambda provider: stored_rules(provider.claim_rules), metadata={"type": "array"})
    for_sign_in = fields.Boolean()
    secret = Text()
    created_at = UtcTime()
    disconnected_at = UtcTime()
    redirect_uri = fields.Function(lambda _: _address(CALLBACK_PATH), metadata={"type": "string"})
    backchannel_logout_uri = fields.Function(lambda _: _address(BACKCHANNEL_PATH), metadata={"type": "string"})


class ProvidersReply(Shape):
    """A page of the org's providers, in the order they were connected."""

    items = fields.List(fields.Nested(ProviderReply))
    next_cursor = Text()


class IssuerBody(Shape):
    """The issuer to examine."""

    issuer = Text(required=True)


class FindingShape(Shape):
    """One point of an examination."""

    ok = fields.Boolean()
    subject = Text()
    sentence = Text()


class FindingsReply(Shape):
    """What an examination found, good points too."""

    findings = fields.List(fields.Nested(FindingShape))


class RulesBody(Shape):
    """Claim rules to try."""

    claim_rules = fields.List(fields.Nested(ClaimRuleShape), required=True)


class PreviewReply(Shape):
    """What rules make of the caller's own claims."""

    claims = fields.Dict()
    matched = fields.List(fields.Boolean())
    roles = fields.List(Text())
    teams = fields.List(Text())
    led_teams = fields.List(Text())
    problem = Text()


_PROVIDER, _PROVIDERS, _FINDINGS, _PREVIEW = ProviderReply(), ProvidersReply(), FindingsReply(), PreviewReply()


@doors.get("/v1/org/providers")
@guarded(call("org:admin"))
@takes_query(Paging)
@gives(ProvidersReply)
def list_providers(query: Mapping[str, Any]) -> Response:
    """Return the org's identity providers, disconnected ones too."""
    caller = current_caller()
    after, limit = read_after(caller, _LIST, query["cursor"]), query["limit"]
    with current_services().binder.bound(caller.identity) as connection:
        found = store.list_providers(connection, caller.identity, limit=limit + 1, after=after)
    shown, next_cursor = page_of(caller, _LIST, found, limit)
    return reply_json(_PROVIDERS, {"items": shown, "next_cursor": next_cursor})


@doors.put("/v1/org/providers")
@guarded(call("org:admin"))
@takes(ProviderBody)
@gives(ProviderReply)
def connect_provider(body: Mapping[str, Any]) -> Response:
    """Connect an identity provider, or change the one that the org has for these tokens."""
    key = ProviderKey(body["issuer"], body["audience"], body["claim_name"], body["claim_value"])
    changes = ProviderChanges(
        client_id=body["client_id"],
        scopes=body["scopes"],
        claim_rules=None if body["claim_rules"] is None else _rules(body["claim_rules"]),
        for_sign_in=body["for_sign_in"],
        secret=sealed_secret(body["client_secret"]) if "client_secret" in body else None,
    )
    return reply_json(_PROVIDER, save_provider(current_caller(), key, changes, confirm=body["confirm"]))


@doors.post("/v1/org/providers/<uuid:provider_id>/disconnect")
@guarded(call("org:admin"))
@gives(ProviderReply)
def disconnect_provider(provider_id: UUID) -> Response:
    """Believe no token of a provider any more, and end the sessions that began there."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        provider = store.disconnect(connection, caller.identity, author_of(caller), provider_id, caller.provider_id)
    return reply_json(_PROVIDER, provider)


@doors.post("/v1/org/providers/test")
@guarded(call("org:admin"))
@takes(IssuerBody)
@gives(FindingsReply)
def test_provider(body: Mapping[str, Any]) -> Response:
    """Read what a provider publishes now and say, point by point, whether Keepline can work with it."""
    refuse_faults(faults_of(issuer=text_fault(body["issuer"], ADDRESS_CHARACTERS)))
    return reply_json(_FINDINGS, {"findings": current_services().providers.examine(body["issuer"])})


@doors.post("/v1/org/providers/preview")
@guarded(call("org:admin"))
@takes(RulesBody)
@gives(PreviewReply)
def preview_rules(body: Mapping[str, Any]) -> Response:
    """Return what claim rules would make of the caller's own claims; nothing is saved."""
    return reply_json(_PREVIEW, preview_for(current_caller(), _rules(body["claim_rules"])))


def _rules(shapes: Sequence[Mapping[str, str]]) -> tuple[ClaimRule, ...]:
    return tuple(ClaimRule(rule["claim"], rule["value"], Grant(rule["grants"]), rule["team"]) for rule in shapes)


def _address(path: str) -> str:
    return f"{current_services().settings.public_url}{path}"
