"""An org's identity providers, on a connection bound to an admin; the org is repeated as a predicate.

A sealed secret is written and never read back: the app's role may not select it.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Row, case, func, literal, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DBAPIError

from admin.identity.errors import ProviderInUseError, ProviderTakenError, TooManyProvidersError
from admin.identity.records import ConnectedProvider, ProviderChanges
from admin.identity.rules import (
    SCOPES_DEFAULT,
    ProviderKey,
    client_id_fault,
    key_faults,
)
from admin.rules import faults_of, refuse_faults
from memory.audit import store as audit
from memory.audit.rules import Author, Entry
from tenancy.errors import NotFoundError
from tenancy.identity import Identity
from tenancy.roles import read_rules, stored_rules
from tenancy.tables import providers

_TAKEN, _FULL = "KL003", "KL004"  # raised by tenancy.connect_provider
_SECRET = case(
    (providers.c.has_secret, "stored"), (providers.c.secret_name.is_not(None), "server"), else_="none"
).label("secret")
_COLUMNS: tuple[ColumnElement[Any], ...] = (
    providers.c.id,
    providers.c.issuer,
    providers.c.audience,
    providers.c.claim_name,
    providers.c.claim_value,
    providers.c.client_id,
    providers.c.scopes,
    providers.c.claim_rules,
    providers.c.for_sign_in,
    providers.c.created_at,
    providers.c.disconnected_at,
    _SECRET,
)


def list_providers(
    connection: Connection, identity: Identity, *, limit: int, after: UUID | None = None
) -> list[ConnectedProvider]:
    """Return the org's providers, disconnected ones too, in the order they were connected."""
    query = select(*_COLUMNS).where(providers.c.org_id == identity.org_id).order_by(providers.c.id).limit(limit)
    if after is not None:
        query = query.where(providers.c.id > after)
    return [_provider(row) for row in connection.execute(query)]


def find_for_sign_in(connection: Connection, identity: Identity) -> ConnectedProvider | None:
    """Return the provider by which the org's people sign in, or None where there is none."""
    query = select(*_COLUMNS).where(
        providers.c.org_id == identity.org_id, providers.c.for_sign_in, providers.c.disconnected_at.is_(None)
    )
    row = connection.execute(query).one_or_none()
    return _provider(row) if row else None


def find_provider(connection: Connection, identity: Identity, provider_id: UUID) -> ConnectedProvider:
    """Return one provider of the org.

    Raises:
        NotFoundError: the org has none of this id.

    """
    query = select(*_COLUMNS).where(providers.c.org_id == identity.org_id, providers.c.id == provider_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFoundError
    return _provider(row)


def find_by_key(connection: Connection, identity: Identity, key: ProviderKey) -> ConnectedProvider | None:
    """Return the org's provider for these tokens, or None."""
    row = connection.execute(
        select(*_COLUMNS).where(
            providers.c.org_id == identity.org_id,
            providers.c.issuer == key.issuer,
            providers.c.audience == key.audience,
            providers.c.claim_name == key.claim_name,
            providers.c.claim_value == key.claim_value,
        )
    ).one_or_none()
    return _provider(row) if row else None


def connect(
    connection: Connection, identity: Identity, author: Author, key: ProviderKey, changes: ProviderChanges
) -> ConnectedProvider:
    """Connect a provider to the org; whether people could sign in through it is the caller's to examine first.

    Raises:
        InvalidError: something does not fit.
        ProviderTakenError: these tokens are another org's, or are told apart by another claim.

    """
    refuse_faults(
        {**key_faults(key), **faults_of(client_id=client_id_fault(changes.client_id or "")), **changes.faults()}
    )
    try:
        provider_id = connection.execute(
            select(
                func.tenancy.connect_provider(
                    key.issuer,
                    key.audience,
                    key.claim_name,
                    key.claim_value,
                    changes.client_id,
                    changes.secret.sealed if changes.secret else None,
                    changes.scopes or SCOPES_DEFAULT,
                    literal(stored_rules(changes.claim_rules or ()), JSONB),
                )
            )
        ).scalar_one()
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == _FULL:
            raise TooManyProvidersError from error
        if getattr(error.orig, "sqlstate", None) == _TAKEN:
            raise ProviderTakenError from error
        raise
    _record(connection, author, "provider.connect", provider_id, claim_rules=len(changes.claim_rules or ()))
    if changes.for_sign_in:
        use_for_sign_in(connection, identity, author, provider_id)
    return find_provider(connection, identity, provider_id)


def change(
    connection: Connection, identity: Identity, author: Author, provider_id: UUID, changes: ProviderChanges
) -> ConnectedProvider:
    """Change what is given of a connected provider.

    Raises:
        NotFoundError: the org has none of this id.
        InvalidError: something does not fit.
        ProviderInUseError: it is disconnected; or it would no longer be used for signing in, and no other takes its
            place.

    """
    refuse_faults(changes.faults())
    _lock_all(connection, identity)
    known = find_provider(connection, identity, provider_id)
    refuse_disconnected(known)
    if changes.for_sign_in is False and known.for_sign_in:
        raise ProviderInUseError(
            "People sign in through this provider. Nothing was changed. Choose another one for signing in instead."
        )
    values = {
        name: value
        for name in ("client_id", "scopes", "claim_rules")
        if (value := getattr(changes, name)) not in (None, getattr(known, name))
    }
    if values:
        count = len(values.get("claim_rules", known.claim_rules))
        _record(connection, author, "provider.change", provider_id, claim_rules=count)
    if "claim_rules" in values:
        values["claim_rules"] = stored_rules(values["claim_rules"])
    if changes.secret is not None:
        values["client_secret"] = changes.secret.sealed
        stored = changes.secret.sealed is not None
        _record(connection, author, "provider.replace_secret", provider_id, stored=stored)
    if values:
        _update(connection, identity, provider_id, **values)
    if changes.for_sign_in:
        return use_for_sign_in(connection, identity, author, provider_id)
    return find_provider(connection, identity, provider_id)


def connect_again(
    connection: Connection, identity: Identity, author: Author, provider_id: UUID, changes: ProviderChanges
) -> ConnectedProvider:
    """Connect a disconnected provider again and change what is given; examining it first is the caller's.

    People go on signing in where they do now, unless the changes say otherwise. No session of before comes back.

    Raises:
        NotFoundError: the org has none of this id.
        InvalidError: something does not fit.

    """
    refuse_faults(changes.faults())
    _lock_all(connection, identity)
    known = find_provider(connection, identity, provider_id)
    if connection.execute(select(func.tenancy.reconnect_provider(provider_id))).scalar_one():
        _record(connection, author, "provider.connect", provider_id, claim_rules=len(known.claim_rules))
    return change(connection, identity, author, provider_id, changes)


def use_for_sign_in(connection: Connection, identity: Identity, author: Author, provider_id: UUID) -> ConnectedProvider:
    """Let people sign in through this provider from now on, and through no other of the org.

    Raises:
        NotFoundError: the org has none of this id.
        ProviderInUseError: it is disconnected.

    """
    _lock_all(connection, identity)
    known = find_provider(connection, identity, provider_id)
    refuse_disconnected(known)
    if known.for_sign_in:
        return known
    connection.execute(
        update(providers)
        .where(providers.c.org_id == identity.org_id, providers.c.for_sign_in)
        .values(for_sign_in=False)
    )
    chosen = _update(connection, identity, provider_id, for_sign_in=True)
    _record(connection, author, "provider.change", provider_id, for_sign_in=True)
    return chosen


def disconnect(
    connection: Connection, identity: Identity, author: Author, provider_id: UUID, signed_in_by: UUID | None
) -> ConnectedProvider:
    """Believe no token of this provider any more and end its sessions; `signed_in_by` is the caller's own provider.

    Neither its sessions nor tokens of before come back when it is connected again. One that is disconnected already
    stays as it is.

    Raises:
        NotFoundError: the org has none of this id.
        ProviderInUseError: the caller, or people in general, sign in through it.

    """
    _lock_all(connection, identity)
    known = find_provider(connection, identity, provider_id)
    if known.disconnected_at is not None:
        return known
    if known.for_sign_in or provider_id == signed_in_by:
        who = "People sign in" if known.for_sign_in else "You signed in"
        raise ProviderInUseError(
            f"{who} through this provider. Nothing was changed. Choose another one for signing in, sign in through "
            "it, and then disconnect this one."
        )
    ended = connection.execute(select(func.tenancy.disconnect_provider(provider_id))).scalar_one()
    _record(connection, author, "provider.disconnect", provider_id, sessions=ended)
    return find_provider(connection, identity, provider_id)


def refuse_disconnected(provider: ConnectedProvider) -> None:
    """Refuse to change a provider that is disconnected: connecting it again is an act of its own, examined first.

    Raises:
        ProviderInUseError: it is disconnected.

    """
    if provider.disconnected_at is not None:
        raise ProviderInUseError("This provider is disconnected. Nothing was changed. Connect it again first.")


def _lock_all(connection: Connection, identity: Identity) -> None:
    """Let admins at once choose one after the other for signing in, each seeing what the one before chose."""
    connection.execute(
        select(providers.c.id).where(providers.c.org_id == identity.org_id).order_by(providers.c.id).with_for_update()
    )


def _update(connection: Connection, identity: Identity, provider_id: UUID, **values: Any) -> ConnectedProvider:
    row = connection.execute(
        update(providers)
        .where(providers.c.org_id == identity.org_id, providers.c.id == provider_id)
        .values(**values)
        .returning(*_COLUMNS)
    ).one()
    return _provider(row)


def _record(connection: Connection, author: Author, action: str, provider_id: UUID, **counts: int) -> None:
    audit.append(connection, author, Entry(action, "provider", str(provider_id), counts=counts))


def _provider(row: Row[Any]) -> ConnectedProvider:
    fields = dict(row._mapping)
    return ConnectedProvider(**{**fields, "claim_rules": read_rules(row.claim_rules)})
