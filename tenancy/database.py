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
from tenancy.login_faults import (
    keeps_sessions,
    outdated_parts,
    refuse_split_transactions,
    role_faults,
    setting_faults,
)
from tenancy.settings import Settings

logger = logging.getLogger(__name__)

APPLICATION_NAME = "keepline"
_PROBES = 3


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
        return Login(role, _complete(locate(settings.data_folder).conninfo(role), ""))
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise SetupError(f"The database URL of {role} cannot be read: {str(error).strip()}.") from error
    options = str(parts.get("options") or "")
    if "keepline." in options:
        raise SetupError(
            f"The database URL of {role} sets a keepline.* parameter, which would be an identity by default."
        )
    return Login(role, _complete(url, options))


def _complete(conninfo: str, options: str) -> str:
    """Spell out what libpq would otherwise take from the environment of the process (PGOPTIONS, PGCLIENTENCODING)."""
    return make_conninfo(conninfo, application_name=APPLICATION_NAME, options=options, client_encoding="UTF8")


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
    try:
        with connection:
            yield connection
    except psycopg.OperationalError as error:
        if not connection.broken and not isinstance(
            error, psycopg.errors.QueryCanceled | psycopg.errors.ProtocolViolation
        ):
            raise
        raise SetupError(f"The database broke off as {login.role}: {str(error).strip()}") from error


def shares_backends(login: Login) -> bool:
    """Return whether something in between gives one backend to several connections in turn.

    PgBouncer in transaction mode does. Then nothing of a session holds: no LISTEN, no lock and no setting that is to
    outlive a transaction. An idle pooler is always found out; under load, all but certainly.

    Raises:
        SetupError: the database does not answer.

    """
    with single_connection(login) as first, single_connection(login) as second:
        seen: dict[psycopg.Connection[Any], set[int]] = {first: set(), second: set()}
        try:
            for connection in (first, second, second, first) * _PROBES:
                row = connection.execute("SELECT pg_backend_pid()").fetchone()
                seen[connection].add(row[0] if row else 0)
        except psycopg.OperationalError as error:
            raise SetupError(f"The database cannot be reached as {login.role}: {str(error).strip()}") from error
    return max(map(len, seen.values())) > 1 or seen[first] == seen[second]


def refuse_shared_backends(login: Login, purpose: str) -> None:
    """Refuse a pooler in transaction mode for a login whose work needs a session of its own.

    Raises:
        SetupError: the login goes through one; the sentence begins with the purpose, such as "Migrate".

    """
    if shares_backends(login):
        raise SetupError(
            f"{purpose} needs database connections of its own, and {login.role} comes through a pooler that shares "
            "them. Nothing was changed. Let its URL lead to the database itself (docs/pooler.md)."
        )


def refuse_unsafe_login(login: Login, *, strict_floor: bool) -> None:
    """Refuse to serve or work as anything that policies do not hold, or through what tears transactions apart.

    Raises:
        SetupError: the login is a superuser, bypasses row-level security, owns a table, is a member of another
            role, has unexpected settings, leads to a replica or through a pooler in statement mode, or (strictly)
            the server is older than the known-safe versions.

    """
    with single_connection(login) as connection:
        refuse_split_transactions(connection)
        faults = [*role_faults(connection, login.role), *setting_faults(connection)]
        if faults:
            raise SetupError(
                f"Keepline does not start as this database login: {'; '.join(faults)}. "
                f"Log in as {login.role}, made by `keepline migrate --print-roles`."
            )
        outdated = outdated_parts(connection)
        kept = keeps_sessions(connection)
    if kept:
        logger.warning(
            "The pooler of %s keeps what a transaction set for its session. Set pool_mode to transaction and "
            "server_reset_query_always to 1 (docs/pooler.md).",
            login.role,
        )
    if outdated and strict_floor:
        raise SetupError(f"{' and '.join(outdated)}, and KEEPLINE_STRICT_FLOOR is 1. Update the database server.")
    if outdated:
        logger.warning("%s, the oldest version without known faults; update when you can.", " and ".join(outdated))
