"""What is wrong with a database login: each check looks at one connection and says what it finds in a sentence."""

from collections.abc import Iterator
from typing import Any

import psycopg

from tenancy.errors import SetupError

# Below these, a fault is known that leaks across policies or corrupts an index (PostgreSQL 18.6, pgvector 0.8.4).
SAFE_POSTGRES = 180006
SAFE_PGVECTOR = (0, 8, 4)
# What sql/roles.sql gives to the roles; an operator may choose other values.
_ROLE_SETTINGS = frozenset(
    {
        "track_activities",
        "search_path",
        "statement_timeout",
        "lock_timeout",
        "idle_in_transaction_session_timeout",
    }
)
# What a connection itself may set: the URL or a pooler names the program and the encoding, and time limits are fine.
_CONNECTION_SETTINGS = _ROLE_SETTINGS | {"application_name", "client_encoding"}
_PROBES = 5


def refuse_split_transactions(connection: psycopg.Connection[Any]) -> None:
    """Refuse a pooler that hands the connection over after each statement, as PgBouncer does in statement mode.

    An identity is bound to a transaction: where a transaction does not stay on one backend, it is bound to nobody.

    Raises:
        SetupError: two statements of one transaction did not run in one transaction of the server.

    """
    marks: list[Any] = []
    said = "its statements ran in different transactions"
    try:
        with connection.transaction():
            marks += [connection.execute("SELECT pg_backend_pid(), now()::text").fetchone() for _ in range(2)]
    except psycopg.OperationalError as error:
        said = str(error).strip()
        marks.clear()
    if not marks or marks[0] != marks[1]:
        raise SetupError(
            f"The database does not keep a transaction together ({said}), so that nobody's identity can be bound to "
            "it. A pooler in statement mode does this: set its pool_mode to transaction or session, or connect "
            "directly (docs/pooler.md)."
        )


def keeps_sessions(connection: psycopg.Connection[Any]) -> bool:
    """Return whether a pooler lets what one transaction sets for its session be met by the next.

    On a direct connection the answer is no: there, each transaction begins by emptying the session. A pooler whose
    backends are all busy with others may stay unnoticed.
    """
    for _ in range(_PROBES):
        before = connection.execute("SELECT pg_backend_pid(), set_config('keepline.left_over', 'on', false)").fetchone()
        after = connection.execute("SELECT pg_backend_pid(), current_setting('keepline.left_over', true)").fetchone()
        connection.execute("SELECT set_config('keepline.left_over', '', false)")
        if before is None or before[0] == connection.info.backend_pid:
            return False
        if after is not None and after[0] == before[0]:
            return bool(after[1] == "on")
    return False


def role_faults(connection: psycopg.Connection[Any], expected: str) -> Iterator[str]:
    """Look at the role that acts and at the one that logged in: injected SQL can go back to the latter."""
    rows = connection.execute(
        """SELECT r.rolname, r.rolsuper, r.rolbypassrls, r.rolcreaterole OR r.rolcreatedb OR r.rolreplication,
          EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relowner = r.oid AND n.nspname IN ('app', 'tenancy')),
          (SELECT string_agg(m.rolname, ', ') FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.roleid
            WHERE a.member = r.oid)
        FROM pg_roles r WHERE r.rolname IN (current_user, session_user)"""
    ).fetchall()
    for name, superuser, bypasses, creates, owns, memberships in rows:
        if superuser:
            yield f"{name} is a superuser, which no policy binds"
        if bypasses:
            yield f"{name} has BYPASSRLS"
        if creates:
            yield f"{name} may create roles or databases, or replicate"
        if owns:
            yield f"{name} owns Keepline's tables"
        if memberships:
            yield f"{name} is a member of {memberships}"
        if name != expected:
            yield f"the login is {name}, not {expected}"


def setting_faults(connection: psycopg.Connection[Any]) -> Iterator[str]:
    """Look for settings that Keepline did not make: of the role, of the database and of the connection."""
    kept = connection.execute(
        """SELECT split_part(entry, '=', 1) FROM pg_db_role_setting s, unnest(s.setconfig) AS entry
        WHERE s.setrole IN (0, current_user::regrole)
          AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))"""
    ).fetchall()
    unexpected = sorted({name for (name,) in kept} - _ROLE_SETTINGS)
    if unexpected:
        yield f"the role or database has the settings {', '.join(unexpected)}, which Keepline did not make"
    own = connection.execute("SELECT name FROM pg_settings WHERE source IN ('client', 'session')").fetchall()
    unexpected = sorted({name for (name,) in own} - _CONNECTION_SETTINGS)
    if unexpected:
        yield f"a new connection has the settings {', '.join(unexpected)}, from its URL, the environment or a pooler"
    row = connection.execute(
        "SELECT current_setting('keepline.identity', true), current_setting('track_activities'), "
        "current_setting('transaction_read_only')"
    ).fetchone()
    identity, tracking, read_only = row if row else ("", "on", "on")
    if identity:
        yield "a new connection already carries an identity"
    if tracking != "off":
        yield "track_activities is on, so that other sessions could read identities from running statements"
    if read_only == "on":
        yield "the database can only be read, as a replica can, which may not yet know who lost a right"


def outdated_parts(connection: psycopg.Connection[Any]) -> list[str]:
    """Say which parts of the database server are older than the versions without known faults.

    Raises:
        SetupError: the extension vector is not installed.

    """
    row = connection.execute(
        "SELECT current_setting('server_version_num')::int, extversion FROM pg_extension WHERE extname = 'vector'"
    ).fetchone()
    if row is None:
        raise SetupError("The extension vector is not installed; run `keepline migrate --print-roles` as a superuser.")
    return list(older_than_safe(*row))


def older_than_safe(number: int, vector: str) -> Iterator[str]:
    """Compare a server's number, such as 180004, and a version of pgvector with the floor."""
    if number < SAFE_POSTGRES:
        yield f"PostgreSQL {_release(number)} is older than {_release(SAFE_POSTGRES)}"
    if tuple(int(part) for part in vector.split(".") if part.isdigit()) < SAFE_PGVECTOR:
        yield f"pgvector {vector} is older than {'.'.join(map(str, SAFE_PGVECTOR))}"


def _release(number: int) -> str:
    return f"{number // 10000}.{number % 10000}"
