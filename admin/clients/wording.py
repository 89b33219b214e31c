"""How the pages put a registered client into words: its kind, its state, and what its scopes let it do."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from admin.clients.store import RegisteredClient
from tenancy.clients import ASSISTANT_SCOPES, USER_SCOPES, Kind, allowed_scopes

KIND_WORDS = {Kind.ASSISTANT: "Assistant", Kind.USER: "Program of a person"}

# In the order in which pages list them.
_SCOPE_WORDS = {
    "memory:read": "Read the memory and load the prompt",
    "memory:write": "Add, change and remove lines of the memory",
    "conversations:record": "Record conversations",
    "conversations:search": "Search past conversations",
    "library:read": "Read libraries",
    "library:write": "Write notes into libraries",
    "memory:manage": "Switch memory, clear it, and take lines back",
    "library:manage": "Manage libraries",
    "team:write": "Edit the instructions of teams that the person leads",
    "audit:read": "Read the audit trail, for a person who is a reviewer",
    "org:admin": "Change what these pages change, for a person who is an admin",
}


class ScopeChoice(NamedTuple):
    """A scope as a form offers it."""

    name: str
    label: str
    hint: str


def scope_choices(kind: Kind | None = None) -> list[ScopeChoice]:
    """Return the scopes to choose from: of a kind, or of both, saying which only one of them may hold."""
    offered = USER_SCOPES if kind is None else allowed_scopes(kind)
    return [
        ScopeChoice(name, label, name if kind or name in ASSISTANT_SCOPES else f"{name}, for programs of a person only")
        for name, label in _SCOPE_WORDS.items()
        if name in offered
    ]


def describe_client(client: RegisteredClient) -> dict[str, Any]:
    """Return a client as the pages show it."""
    return {
        "id": client.id,
        "client_id": client.client_id,
        "name": client.name,
        "kind": client.kind.value,
        "kind_words": KIND_WORDS[client.kind],
        "scopes": client.scopes,
        "scope_words": _scope_words(client.kind, client.scopes),
        "created_at": client.created_at,
        "last_used_at": client.last_used_at,
        "revoked_at": client.revoked_at,
        "replaced_by": client.replaced_by,
        "state": _state(client),
    }


def _state(client: RegisteredClient) -> str:
    if not client.in_force:
        return "revoked"
    return "ending" if client.revoked_at else "registered"


def _scope_words(kind: Kind, scopes: Sequence[str]) -> str:
    if set(scopes) >= allowed_scopes(kind):
        return "All of its kind"
    return ", ".join(name for name in _SCOPE_WORDS if name in scopes)
