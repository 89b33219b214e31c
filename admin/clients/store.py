"""The registry of an org's clients, on a connection bound to an admin; the org is repeated as a predicate.

Times are the database's own clock, which nothing of the demo moves: a revoked credential is revoked.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Row, case, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from admin.clients.errors import ClientExistsError, ClientKindError, ClientRevokedError
from admin.clients.rules import client_id_fault, scopes_fault
from admin.rules import faults_of, refuse_faults, text_fault
from memory.audit import store as audit
from memory.audit.rules import Author, Entry
from tenancy.clients import Kind, allowed_scopes
from tenancy.errors import NotFoundError
from tenancy.identity import Identity
from tenancy.tables import clients

_IN_FORCE = or_(clients.c.revoked_at.is_(None), clients.c.revoked_at > func.clock_timestamp())
_COLUMNS: tuple[ColumnElement[Any], ...] = (
    clients.c.id,
    clients.c.client_id,
    clients.c.name,
    clients.c.kind,
    clients.c.scopes,
    clients.c.created_at,
    clients.c.last_used_at,
    clients.c.revoked_at,
    clients.c.replaced_by,
    _IN_FORCE.label("in_force"),
)


@dataclass(frozen=True)
class RegisteredClient:
    """A client of the org; with `revoked_at` ahead, it goes on until then beside the one that replaces it."""

    id: UUID
    client_id: str
    name: str
    kind: Kind
    scopes: tuple[str, ...]
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    replaced_by: str | None
    in_force: bool


def list_clients(
    connection: Connection, identity: Identity, *, limit: int, after: UUID | None = None
) -> list[RegisteredClient]:
    """Return the org's clients, revoked ones too, in the order they were registered."""
    query = select(*_COLUMNS).where(clients.c.org_id == identity.org_id).order_by(clients.c.id).limit(limit)
    if after is not None:
        query = query.where(clients.c.id > after)
    return [_client(row) for row in connection.execute(query)]


def count_in_force(connection: Connection, identity: Identity) -> int:
    """Return how many clients of the org may act now; those that are being replaced count, revoked ones don't."""
    query = select(func.count()).select_from(clients).where(clients.c.org_id == identity.org_id, _IN_FORCE)
    return int(connection.execute(query).scalar_one())


def find_client(connection: Connection, identity: Identity, record_id: UUID, *, lock: bool = False) -> RegisteredClient:
    """Return one client of the org by the id of its registration.

    Raises:
        NotFoundError: the org has none of this id.

    """
    query = select(*_COLUMNS).where(clients.c.org_id == identity.org_id, clients.c.id == record_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        raise NotFoundError
    return _client(row)


def register(
    connection: Connection,
    identity: Identity,
    author: Author,
    client_id: str,
    name: str,
    *,
    kind: Kind | None = None,
    scopes: Collection[str] | None = None,
) -> RegisteredClient:
    """Register a client, change the one of this id, or revive it where it was revoked.

    Without a kind, a new one is an assistant; without scopes, a new one holds all that its kind may, and a known one
    keeps its own.

    Raises:
        InvalidError: id, name or scopes do not fit.
        ClientKindError: it is registered as the other kind.

    """
    refuse_faults(faults_of(client_id=client_id_fault(client_id), name=text_fault(name)))
    known = _find_by_client_id(connection, identity, client_id)
    kind = kind or (known.kind if known else Kind.ASSISTANT)
    if known is not None and known.kind is not kind:
        raise ClientKindError(known.kind)
    if scopes is None:
        scopes = known.scopes if known else allowed_scopes(kind)
    refuse_faults(faults_of(scopes=scopes_fault(kind, scopes)))
    if known is not None and known.in_force and (known.name, set(known.scopes)) == (name, set(scopes)):
        return known
    statement = insert(clients).values(
        client_id=client_id, name=name, kind=kind.value, scopes=sorted(set(scopes)), created_at=func.clock_timestamp()
    )
    # One that is being replaced goes on ending: only what is revoked already is revived.
    row = connection.execute(
        statement.on_conflict_do_update(
            index_elements=["org_id", "client_id"],
            set_={
                "name": statement.excluded.name,
                "scopes": statement.excluded.scopes,
                "revoked_at": case((_IN_FORCE, clients.c.revoked_at)),
                "replaced_by": case((_IN_FORCE, clients.c.replaced_by)),
            },
            where=clients.c.kind == statement.excluded.kind,
        ).returning(*_COLUMNS)
    ).one_or_none()
    if row is None:  # another admin registered it as the other kind since it was looked for
        raise ClientKindError(Kind.USER if kind is Kind.ASSISTANT else Kind.ASSISTANT)
    action = "client.change" if known is not None and known.in_force else "client.register"
    _record(connection, author, action, row.id, scopes=len(set(scopes)))
    return _client(row)


def change(
    connection: Connection,
    identity: Identity,
    author: Author,
    record_id: UUID,
    name: str,
    scopes: Collection[str],
) -> RegisteredClient:
    """Change name and scopes of one client; a revoked one stays revoked.

    Raises:
        NotFoundError: the org has none of this id.
        InvalidError: name or scopes do not fit.

    """
    known = find_client(connection, identity, record_id, lock=True)
    refuse_faults(faults_of(name=text_fault(name), scopes=scopes_fault(known.kind, scopes)))
    if (known.name, set(known.scopes)) == (name, set(scopes)):
        return known
    changed = _update(connection, identity, record_id, name=name, scopes=sorted(set(scopes)))
    _record(connection, author, "client.change", record_id, scopes=len(set(scopes)))
    return changed


def revoke(connection: Connection, identity: Identity, author: Author, record_id: UUID) -> RegisteredClient:
    """Revoke a client at once; one that is revoked already stays as it is.

    Raises:
        NotFoundError: the org has none of this id.

    """
    known = find_client(connection, identity, record_id, lock=True)
    if not known.in_force:
        return known
    revoked = _update(connection, identity, record_id, revoked_at=func.clock_timestamp())
    _record(connection, author, "client.revoke", record_id)
    return revoked


def replace(
    connection: Connection,
    identity: Identity,
    author: Author,
    record_id: UUID,
    new_client_id: str,
    overlap: timedelta,
) -> RegisteredClient:
    """Register a client in the place of another, which goes on for the overlap; return the new one.

    Raises:
        NotFoundError: the org has none of this id.
        ClientRevokedError: it is revoked, or being replaced already.
        ClientExistsError: the new id is registered already.
        InvalidError: the new id does not fit.

    """
    refuse_faults(faults_of(client_id=client_id_fault(new_client_id)))
    known = find_client(connection, identity, record_id, lock=True)
    if known.revoked_at is not None:
        raise ClientRevokedError
    row = connection.execute(
        insert(clients)
        .values(
            client_id=new_client_id,
            name=known.name,
            kind=known.kind.value,
            scopes=list(known.scopes),
            created_at=func.clock_timestamp(),
        )
        .on_conflict_do_nothing(index_elements=["org_id", "client_id"])
        .returning(*_COLUMNS)
    ).one_or_none()
    if row is None:
        raise ClientExistsError
    _update(connection, identity, record_id, revoked_at=func.clock_timestamp() + overlap, replaced_by=new_client_id)
    hours = int(overlap.total_seconds() // 3600)
    _record(connection, author, "client.replace", record_id, overlap_hours=hours)
    return _client(row)


def _find_by_client_id(connection: Connection, identity: Identity, client_id: str) -> RegisteredClient | None:
    row = connection.execute(
        select(*_COLUMNS).where(clients.c.org_id == identity.org_id, clients.c.client_id == client_id).with_for_update()
    ).one_or_none()
    return _client(row) if row else None


def _update(connection: Connection, identity: Identity, record_id: UUID, **values: Any) -> RegisteredClient:
    row = connection.execute(
        update(clients)
        .where(clients.c.org_id == identity.org_id, clients.c.id == record_id)
        .values(**values)
        .returning(*_COLUMNS)
    ).one()
    return _client(row)


def _record(connection: Connection, author: Author, action: str, record_id: UUID, **counts: int) -> None:
    audit.append(connection, author, Entry(action, "client", str(record_id), counts=counts))


def _client(row: Row[Any]) -> RegisteredClient:
    fields = dict(row._mapping)
    return RegisteredClient(**{**fields, "kind": Kind(row.kind), "scopes": tuple(row.scopes)})
