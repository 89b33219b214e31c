"""Clients: the registered programs of an org, of two kinds, and the scopes that each may hold."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from tenancy.identity import Identity, Role


class Kind(StrEnum):
    """An assistant writes as the model; a user client writes as the user, like the web pages do."""

    ASSISTANT = "assistant"
    USER = "user"


WEB_CLIENT = "web"
"""What the settings page is called in the trail; no registered client has this id."""

ASSISTANT_SCOPES = frozenset(
    {
        "memory:read",
        "memory:write",
        "conversations:record",
        "conversations:search",
        "library:read",
        "library:write",
    }
)
MANAGE_SCOPES = frozenset({"memory:manage", "library:manage"})
ROLE_SCOPES = frozenset({"team:write", "audit:read", "org:admin"})
USER_SCOPES = ASSISTANT_SCOPES | MANAGE_SCOPES | ROLE_SCOPES


@dataclass(frozen=True)
class Client:
    """One entry of an org's registry."""

    client_id: str
    name: str
    kind: Kind
    scopes: frozenset[str]


def allowed_scopes(kind: Kind) -> frozenset[str]:
    """Return what a client of the kind may be registered for."""
    return ASSISTANT_SCOPES if kind is Kind.ASSISTANT else USER_SCOPES


def effective_scopes(kind: Kind, registered: Iterable[str], identity: Identity) -> frozenset[str]:
    """Return what a call of this client for this user may do.

    Roles give nothing to an assistant; to a user client they give the scopes that belong to the role.
    """
    scopes = frozenset(registered) & allowed_scopes(kind)
    if kind is Kind.ASSISTANT:
        return scopes
    return scopes - (ROLE_SCOPES - role_scopes(identity.roles, identity.led_team_ids))


def role_scopes(roles: Role, led_team_ids: Collection[UUID]) -> frozenset[str]:
    """Return the scopes that belong to roles and to the lead of teams."""
    by_role = {
        "team:write": bool(led_team_ids),
        "audit:read": Role.REVIEWER in roles,
        "org:admin": Role.ADMIN in roles,
    }
    return frozenset(scope for scope, held in by_role.items() if held)
