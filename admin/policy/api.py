"""The org's policy over REST: read it, change some of it."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response
from marshmallow import fields

from admin.policy.store import change_policy, read_policy
from memory.audit.authors import author_of
from tenancy.guards import call, current_caller, guarded
from tenancy.services import current_services
from web.shapes import Flag, Shape, Text, UtcTime, WholeNumber, gives, reply_json, takes

doors = Blueprint("policy_api", __name__)


class PolicyBody(Shape):
    """The settings to change; what is left out stays as it is. `retention` is in days."""

    memory_default = Flag()
    model_writes = Text()
    allowed_domains = fields.List(Text())
    extraction = Flag()
    retention = WholeNumber()
    llm_consent = Flag()


class PolicyReply(Shape):
    """What holds in the org, and since when; null where nothing was ever decided."""

    memory_default = fields.Boolean()
    model_writes = Text()
    allowed_domains = fields.List(Text())
    extraction = fields.Boolean()
    retention = fields.Integer()
    llm_consent = fields.Boolean()
    updated_at = UtcTime()


_POLICY = PolicyReply()


@doors.get("/v1/org/policy")
@guarded(call("org:admin"))
@gives(PolicyReply)
def show_policy() -> Response:
    """Return what the org decided for all its people."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        return reply_json(_POLICY, read_policy(connection, caller.identity))


@doors.put("/v1/org/policy")
@guarded(call("org:admin"))
@takes(PolicyBody)
@gives(PolicyReply)
def save_policy(body: Mapping[str, Any]) -> Response:
    """Change the settings that are sent and return all of them."""
    caller = current_caller()
    with current_services().binder.bound(caller.identity) as connection:
        return reply_json(_POLICY, change_policy(connection, caller.identity, author_of(caller), body))
