"""Listing, revoking and replacing an org's registered clients: the operator's acts, across orgs.

Revocation lives by the database's own clock, which nothing of the demo moves.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg

from tenancy.clients import WEB_CLIENT
from tenancy.errors import SetupError
from tenancy.registration import record

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class RegistryEntry:
    """A registered client as the operator lists it; it may be used while `in_force`."""

    client_id: str
    name: str
    kind: str
    scopes: tuple[str, ...]
    last_used_at: datetime | None
    revoked_at: datetime | None
    replaced_by: str | None
    in_force: bool


def list_clients(connection: Connection, org_id: UUID) -> list[RegistryEntry]:
    """Return an org's clients, revoked ones too, in the order they were registered."""
    rows = connection.execute(
        "SELECT client_id, name, kind, scopes, last_used_at, revoked_at, replaced_by, "
        "revoked_at IS NULL OR revoked_at > clock_timestamp() FROM app.clients WHERE org_id = %s ORDER BY id",
        (org_id,),
    )
    return [RegistryEntry(row[0], row[1], row[2], tuple(row[3]), *row[4:]) for row in rows]


def revoke_client(connection: Connection, org_id: UUID, client_id: str) -> None:
    """Refuse a client's tokens from now on; one that is revoked already stays as it is.

    Raises:
        SetupError: the org has none of this id.

    """
    revoked = connection.execute(
        "UPDATE app.clients SET revoked_at = least(revoked_at, clock_timestamp()) WHERE org_id = %s AND client_id = %s",
        (org_id, client_id),
    )
    if not revoked.rowcount:
        raise _not_registered(client_id)
    record(connection, org_id, "client.revoke", "client", client_id)


def replace_client(
    connection: Connection, org_id: UUID, client_id: str, new_client_id: str, overlap: timedelta
) -> datetime:
    """Register another id in a client's place, with its name, kind and scopes; return until when the old one goes on.

    Raises:
        SetupError: the org has none of this id, it is revoked or being replaced already, or the new id is taken.

    """
    if new_client_id == WEB_CLIENT:
        raise SetupError(f"{WEB_CLIENT} is what the settings page is called in the trail; choose another client id.")
    known = connection.execute(
        "SELECT revoked_at IS NOT NULL FROM app.clients WHERE org_id = %s AND client_id = %s FOR UPDATE",
        (org_id, client_id),
    ).fetchone()
    if known is None:
        raise _not_registered(client_id)
    if known[0]:
        raise SetupError(f"{client_id} is revoked or is being replaced already. Nothing was changed.")
    made = connection.execute(
        "INSERT INTO app.clients (org_id, client_id, name, kind, scopes, created_at) "
        "SELECT org_id, %s, name, kind, scopes, clock_timestamp() FROM app.clients "
        "WHERE org_id = %s AND client_id = %s ON CONFLICT (org_id, client_id) DO NOTHING",
        (new_client_id, org_id, client_id),
    )
    if not made.rowcount:
        raise SetupError(f"{new_client_id} is registered already. Nothing was changed; choose an id that is new.")
    row = connection.execute(
        "UPDATE app.clients SET revoked_at = clock_timestamp() + %s, replaced_by = %s "
        "WHERE org_id = %s AND client_id = %s RETURNING revoked_at",
        (overlap, new_client_id, org_id, client_id),
    ).fetchone()
    ends_at: datetime = row[0]  # type: ignore[index] # the row is locked, so there is one
    record(connection, org_id, "client.replace", "client", client_id)
    return ends_at


def _not_registered(client_id: str) -> SetupError:
    return SetupError(f"{client_id} is not registered in this org. Nothing was changed.")
