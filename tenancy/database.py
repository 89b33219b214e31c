"""The connections: the pool of a process, and what a login must be before it may serve or work."""

import logging
import select
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import DisconnectionError

from tenancy.embedded import locate
from tenancy.errors import SetupError
from tenancy.settings import Settings

logger = logging.getLogger(__name__)

APPLICATION_NAME = "keepline"
# Below these, a fault is known that leaks across policies or corrupts an index (PostgreSQL 18.6, pgvector 0.8.4).
SAFE_POSTGRES = 180006
SAFE_PGVECTOR = (0, 8, 4)
_EXPECTED_SETTINGS = frozenset(
    {
        "track_activities",
        "search_path",
        "statement_timeout",
        "lock_timeout",
        "idle_in_transaction_session_timeout",
    }
)


class Login(NamedTuple):
    """One of the three logins: the role it must be, and how to reach the database as it."""

    role: str
    conninfo: str


def web_login(settings: Settings) -> Login:
    """Return what the web processes log in with."""
    return _login(settings, "keepline_app", settings.database.web if settings.database else None)


def worker_login(settings: Settings) -> Login:
    """Return what the worker logs in with."""
    return _login(settings, "keepline_worker", settings.database.worker if settings.database else None)


def operator_login(settings: Settings) -> Login:
    """Return what migrate, maintain and the operator's commands log in with."""
    return _login(settings, "keepline_migrate", settings.database.owner if settings.database else None)


def _login(settings: Settings, role: str, url: str | None) -> Login:
    if url is None:
        return Login(role, locate(settings.data_folder).conninfo(role))
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise SetupError(f"The database URL of {role} cannot be read: {str(error).strip()}.") from error
    options = str(parts.get("options") or "")
    if "keepline." in options:
        raise SetupError(
            f"The database URL of {role} sets a keepline.* parameter, which would be an identity by default."
        )
    return Login(role, make_conninfo(url, application_name=APPLICATION_NAME))


def create_pool(login: Login, size: int) -> Engine:
    """Return the pool of one process, at most `size` connections, none of them opened yet.

    The engine is in autocommit: `tenancy/binding.py` alone begins and commits. Statements are never prepared on
    the server: through a pooler a prepared statement can be run under somebody else's identity.
    """

    def connect() -> psycopg.Connection[Any]:
        return psycopg.connect(login.conninfo, autocommit=True, prepare_threshold=None)

    engine = create_engine(
        "postgresql+psycopg://", creator=connect, isolation_level="AUTOCOMMIT",
        pool_size=size, max_overflow=0, pool_timeout=10, pool_recycle=3600,
        hide_parameters=True,  # an error that is logged must not carry what somebody wrote
    )  # fmt: skip

    @event.listens_for(engine, "connect")
    def learn_backend(connection: psycopg.Connection[Any], record: Any) -> None:
        """Keep the backend's pid where the connection is direct; a pooler shows a made-up one."""
        if connection.prepare_threshold is not None:
            raise SetupError("A connection prepares statements by itself, which is not safe behind a pooler.")
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        real_pid = row[0] if row else 0
        record.info["backend_pid"] = real_pid if real_pid == connection.info.backend_pid else 0

    @event.listens_for(engine, "checkout")
    def replace_ended(connection: psycopg.Connection[Any], *_: Any) -> None:
        """Let the pool replace a connection that the server ended meanwhile, as a restart ends all of them."""
        if _was_ended(connection):
            raise DisconnectionError

    return engine


def _was_ended(connection: psycopg.Connection[Any]) -> bool:
    """Return whether the server closed an idle connection, without a round trip: its socket then reads as ended."""
    poller = select.poll()
    try:
        poller.register(connection.fileno(), select.POLLIN)
        while poller.poll(0):
            connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return True
    return connection.pgconn.status == pq.ConnStatus.BAD


@contextmanager
def single_connection(login: Login) -> Iterator[psycopg.Connection[Any]]:
    """Open one connection for a short check or an operator's act, in autocommit.

    Raises:
        SetupError: the database does not answer.

    """
    try:
        connection = psycopg.connect(login.conninfo, autocommit=True, prepare_threshold=None, connect_timeout=10)
    except psycopg.OperationalError as error:
        raise SetupError(f"The database cannot be reached as {login.role}: {str(error).strip()}") from error
    with connection:
        yield connection


def refuse_unsafe_login(login: Login, *, strict_floor: bool) -> None:
    """Refuse to serve or work as anything that policies do not hold.

    Raises:
        SetupError: the login is a superuser, bypasses row-level security, owns a table, is a member of another
            role, has unexpected settings, or (strictly) the server is older than the known-safe versions.

    """
    with single_connection(login) as connection:
        faults = [*_role_faults(connection, login.role), *_setting_faults(connection)]
        if faults:
            raise SetupError(
                f"Keepline does not start as this database login: {'; '.join(faults)}. "
                f"Log in as {login.role}, made by `keepline migrate --print-roles`."
            )
        _check_floor(connection, strict=strict_floor)


def _role_faults(connection: psycopg.Connection[Any], expected: str) -> Iterator[str]:
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


def _setting_faults(connection: psycopg.Connection[Any]) -> Iterator[str]:
    rows = connection.execute(
        """SELECT split_part(entry, '=', 1) FROM pg_db_role_setting s, unnest(s.setconfig) AS entry
        WHERE s.setrole IN (0, current_user::regrole)
          AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))"""
    ).fetchall()
    unexpected = sorted({name for (name,) in rows} - _EXPECTED_SETTINGS)
    if unexpected:
        yield f"the role or database has the settings {', '.join(unexpected)}, which Keepline did not make"
    row = connection.execute(
        "SELECT current_setting('keepline.identity', true), current_setting('track_activities')"
    ).fetchone()
    if row and row[0]:
        yield "a new connection already carries an identity"
    if row and row[1] != "off":
        yield "track_activities is on, so that other sessions could read identities from running statements"


def _check_floor(connection: psycopg.Connection[Any], *, strict: bool) -> None:
    row = connection.execute(
        "SELECT current_setting('server_version_num')::int, "
        "(SELECT extversion FROM pg_extension WHERE extname = 'vector')"
    ).fetchone()
    number, vector = row if row else (0, None)
    old: list[str] = []
    if number < SAFE_POSTGRES:
        old.append(f"PostgreSQL {_release(number)} is older than {_release(SAFE_POSTGRES)}")
    if vector is None:
        raise SetupError("The extension vector is not installed; run `keepline migrate --print-roles` as a superuser.")
    if _version(vector) < SAFE_PGVECTOR:
        old.append(f"pgvector {vector} is older than {'.'.join(map(str, SAFE_PGVECTOR))}")
    if old and strict:
        raise SetupError(f"{' and '.join(old)}, and KEEPLINE_STRICT_FLOOR is 1. Update the database server.")
    if old:
        logger.warning("%s, the oldest version without known faults; update when you can.", " and ".join(old))


def _release(number: int) -> str:
    return f"{number // 10000}.{number % 10000}"


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
