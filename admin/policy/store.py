"""The policy of the bound identity's org; its predicate is repeated beside the database's policy."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from admin.policy.rules import (
    MODEL_WRITES,
    RETENTION_DAYS,
    SETTINGS,
    NotDomainError,
    Policy,
    change_counts,
    read_domains,
)
from admin.rules import faults_of, refuse_faults
from memory.audit import store as audit
from memory.audit.rules import Author, Entry
from tenancy.identity import Identity
from tenancy.tables import org_policies

_COLUMNS = {name: org_policies.c[name] for name in SETTINGS if name != "retention"} | {
    "retention": org_policies.c.retention_days
}


def read_policy(connection: Connection, identity: Identity) -> Policy:
    """Return what the org decided, or the defaults where it decided nothing."""
    return _read(connection, identity, lock=False)


def change_policy(connection: Connection, identity: Identity, author: Author, changes: Mapping[str, Any]) -> Policy:
    """Change the given settings, leave the others, and return the whole; what changes nothing leaves no entry.

    Raises:
        InvalidError: a setting does not fit; nothing is changed.

    """
    given = _checked(changes)
    before = _read(connection, identity, lock=True)
    after = replace(before, **given)
    if after == before:
        return before
    values = {column.name: getattr(after, name) for name, column in _COLUMNS.items()}
    values["allowed_domains"] = list(after.allowed_domains)
    statement = insert(org_policies).values(**values, updated_at=func.tenancy.stored_time())
    changed = {_COLUMNS[name].name: statement.excluded[_COLUMNS[name].name] for name in given}
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["org_id"], set_={**changed, "updated_at": statement.excluded.updated_at}
        )
    )
    audit.append(connection, author, Entry("policy.change", "policy", counts=change_counts(before, after)))
    return _read(connection, identity, lock=False)


def _read(connection: Connection, identity: Identity, *, lock: bool) -> Policy:
    query = select(*(column.label(name) for name, column in _COLUMNS.items()), org_policies.c.updated_at).where(
        org_policies.c.org_id == identity.org_id
    )
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        return Policy()
    return Policy(**{**row._mapping, "allowed_domains": tuple(row.allowed_domains)})


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: changes[name] for name in SETTINGS if name in changes}
    faults: dict[str, Any] = {}
    if given.get("model_writes", "direct") not in MODEL_WRITES:
        faults |= faults_of(model_writes=f"Must be one of: {', '.join(MODEL_WRITES)}.")
    if given.get("retention", 1) not in RETENTION_DAYS:
        faults |= faults_of(retention=f"Must be {RETENTION_DAYS[0]:,} to {RETENTION_DAYS[-1]:,} days.")
    try:
        given |= {"allowed_domains": read_domains(given["allowed_domains"])} if "allowed_domains" in given else {}
    except NotDomainError as error:
        faults |= faults_of(allowed_domains=str(error))
    refuse_faults(faults)
    return given
