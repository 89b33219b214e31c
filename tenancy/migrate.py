"""Migrate: tables by Alembic, then functions, policies and keys anew, each as the role that owns it."""

import logging
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg import sql
from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import DBAPIError

from tenancy.database import Login, refuse_shared_backends, single_connection
from tenancy.errors import SetupError
from tenancy.keys import SigningKey
from tenancy.settings import PROJECT_FOLDER

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

SQL_FOLDER = PROJECT_FOLDER / "sql"
_LOCK = 0x6B65_6570  # any number, the same for every migrate of a database
# Whom the guard may have granted something; what it still grants stands in sql/functions.
_GRANTEES = ("keepline_owner", "keepline_app", "keepline_worker", "keepline_maint", "keepline_purge")
# Shorter than the second after which the server looks for deadlocks: a migrate gives way to people's requests.
_TIMEOUTS = "SELECT set_config('lock_timeout', '300ms', false), set_config('statement_timeout', '10min', false)"
_PATIENCE_SECONDS = 30.0
_PAUSE_SECONDS = 0.2


def roles_sql() -> str:
    """Return the SQL that a superuser runs once: roles, schemas, extension and revokes."""
    return (SQL_FOLDER / "roles.sql").read_text("utf-8")


@cache
def expected_revision() -> str:
    """Return the revision that this code needs."""
    head = ScriptDirectory.from_config(_alembic_config()).get_current_head()
    if head is None:
        raise SetupError("There are no migrations in sql/migrations.")
    return head


def refuse_wrong_login(login: Login) -> None:
    """Refuse to migrate or maintain as anything but keepline_migrate, whose steps take the role they need.

    Raises:
        SetupError: the login is another one or stronger than it should be, or the roles were never made.

    """
    with single_connection(login) as connection:
        row = connection.execute(
            "SELECT r.rolname, r.rolsuper OR r.rolbypassrls, to_regrole('keepline_owner') IS NOT NULL "
            "AND to_regnamespace('tenancy') IS NOT NULL FROM pg_roles r WHERE r.rolname = session_user"
        ).fetchone()
    name, too_strong, prepared = row if row else ("", False, False)
    if name != login.role or too_strong or not prepared:
        strength = " with powers that no policy binds" if too_strong else ""
        raise SetupError(
            f"This needs the login {login.role} and the roles of `keepline migrate --print-roles`; "
            f"this is {name}{strength}. "
            "Run that SQL once as a superuser, then set KEEPLINE_OWNER_DATABASE_URL to log in as keepline_migrate."
        )


def migrate(login: Login, keys: tuple[SigningKey, ...]) -> None:
    """Bring the database to this code's state; safe to run again, one at a time.

    Raises:
        SetupError: the login is not keepline_migrate, the roles are missing, or a lock was not had in time.

    """
    refuse_wrong_login(login)
    refuse_shared_backends(login, "Migrate")
    with single_connection(login) as connection:
        connection.execute(_TIMEOUTS)
        _patiently(lambda: connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,)))
        _patiently(lambda: _run_migrations(login))
        _patiently(lambda: _apply(connection, keys))
    logger.info("Database migrated to revision %s.", expected_revision())


def _patiently(act: Callable[[], object]) -> None:
    """Try again while people's requests hold what is needed, which takes them a moment each.

    Raises:
        SetupError: a lock was not had in 30 s.

    """
    until = monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            act()
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected, DBAPIError) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            if not isinstance(cause, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
                raise
            if monotonic() > until:
                raise SetupError(
                    "Another process holds a lock that migrate needs; what was not finished was undone. Try again."
                ) from error
            sleep(_PAUSE_SECONDS)
        else:
            return


def _apply(connection: psycopg.Connection[Any], keys: tuple[SigningKey, ...]) -> None:
    """Apply functions and policies, unless they are as these files say already, and keep the keys."""
    with connection.transaction():
        files = _files_digest()
        if not _is_applied(connection, files):
            _lock_tables(connection)
            _apply_functions(connection)
            _apply_policies(connection)
        _keep_signing_keys(connection, keys)
        _record_state(connection, files)


def _is_applied(connection: psycopg.Connection[Any], files: str) -> bool:
    connection.execute("SET LOCAL ROLE keepline_guard")
    # The function that tells comes with these files; before the first time there is none.
    known = connection.execute("SELECT to_regprocedure('tenancy.policy_fingerprint()') IS NOT NULL").fetchone()
    if not known or not known[0]:
        return False
    row = connection.execute(
        "SELECT a.files = %s AND a.fingerprint = tenancy.policy_fingerprint() FROM tenancy.applied a", (files,)
    ).fetchone()
    return bool(row and row[0])


def _lock_tables(connection: psycopg.Connection[Any]) -> None:
    """Take every lock first: dropping policies table by table would wait for requests that wait for this one.

    Users come first, as every request's binding reads them: whoever is behind waits there and holds nothing else.
    """
    connection.execute("SET LOCAL ROLE keepline_owner")
    tables = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p') "
        "AND relowner = 'keepline_owner'::regrole ORDER BY relname <> 'users', oid"
    ).fetchall()
    if tables:
        names = sql.SQL(", ").join(_name("app", table) for (table,) in tables)
        connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(names))


def shift_clock(login: Login, seconds: float) -> None:
    """Move the database's time of stored things (the demo's clock)."""
    with single_connection(login) as connection, connection.transaction():
        connection.execute("SET LOCAL ROLE keepline_guard")
        connection.execute(
            "INSERT INTO tenancy.clock_shift (shift) VALUES (make_interval(secs => %s)) "
            "ON CONFLICT (only_row) DO UPDATE SET shift = excluded.shift",
            (seconds,),
        )


def as_maintainer(login: Login, act: Callable[[psycopg.Connection[Any]], Result]) -> Result:
    """Run an operator's act in one transaction as keepline_maint, whose policies span orgs."""
    try:
        with single_connection(login) as connection, connection.transaction():
            connection.execute("SET LOCAL ROLE keepline_maint")
            return act(connection)
    except (
        psycopg.errors.UndefinedTable,
        psycopg.errors.UndefinedColumn,
        psycopg.errors.InvalidSchemaName,
        psycopg.errors.UndefinedObject,
        psycopg.errors.InvalidParameterValue,  # a role that is not there
    ) as error:
        raise SetupError(
            "The database is not at the revision of this code. Nothing was changed; run `keepline migrate`."
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise SetupError(
            f"The login {login.role} may not do this. Nothing was changed; run `keepline migrate --print-roles` as a "
            "superuser, then `keepline migrate`."
        ) from error
    except psycopg.OperationalError as error:
        raise SetupError(f"The database did not finish this: {str(error).strip()}. Nothing was changed.") from error


def _alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(SQL_FOLDER / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def _run_migrations(login: Login) -> None:
    engine: Engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(login.conninfo))
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql(_TIMEOUTS)
            connection.exec_driver_sql("SET ROLE keepline_owner")
            connection.commit()
            config = _alembic_config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()


def _apply_functions(connection: psycopg.Connection[Any]) -> None:
    """Take every right away and apply the files anew, so that what a file no longer says is gone."""
    connection.execute("SET LOCAL ROLE keepline_guard")
    for kind in ("TABLES", "FUNCTIONS"):
        connection.execute(
            sql.SQL("REVOKE ALL ON ALL {} IN SCHEMA tenancy FROM PUBLIC, {}").format(
                sql.SQL(kind), sql.SQL(", ").join(map(_name, _GRANTEES))
            )
        )
    for path in _sql_files("functions"):
        connection.execute(path.read_bytes())


def _apply_policies(connection: psycopg.Connection[Any]) -> None:
    """Drop every policy and apply the files anew, so that what a file no longer says is gone."""
    connection.execute("SET LOCAL ROLE keepline_owner")
    connection.execute("REVOKE ALL ON app.alembic_version FROM PUBLIC")
    files = {path.stem: path for path in _sql_files("policies")}
    tables = {
        name
        for (name,) in connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p') "
            "AND NOT relispartition AND relname <> 'alembic_version'"
        )
    }
    if tables != set(files):
        raise SetupError(f"sql/policies and the tables differ: {', '.join(sorted(tables ^ set(files)))}.")
    for table, policy in connection.execute(
        "SELECT tablename, policyname FROM pg_policies WHERE schemaname = 'app'"
    ).fetchall():
        connection.execute(sql.SQL("DROP POLICY {} ON {}").format(_name(policy), _name("app", table)))
    for table in sorted(files):
        connection.execute(
            sql.SQL(
                "ALTER TABLE {0} ENABLE ROW LEVEL SECURITY; ALTER TABLE {0} FORCE ROW LEVEL SECURITY; "
                "REVOKE ALL ON {0} FROM PUBLIC"
            ).format(_name("app", table))
        )
        connection.execute(files[table].read_bytes())


def _keep_signing_keys(connection: psycopg.Connection[Any], keys: tuple[SigningKey, ...]) -> None:
    """Make the database know exactly the keys in force."""
    connection.execute("SET LOCAL ROLE keepline_guard")
    connection.execute("DELETE FROM tenancy.signing_keys WHERE key_id <> ALL (%s)", ([key.key_id for key in keys],))
    for key in keys:
        connection.execute(
            "INSERT INTO tenancy.signing_keys (key_id, inner_pad, outer_pad) VALUES (%s, %s, %s) "
            "ON CONFLICT (key_id) DO UPDATE SET inner_pad = excluded.inner_pad, outer_pad = excluded.outer_pad",
            (key.key_id, key.inner_pad, key.outer_pad),
        )


def _record_state(connection: psycopg.Connection[Any], files: str) -> None:
    connection.execute(
        "INSERT INTO tenancy.applied (revision, fingerprint, files, applied_at) "
        "VALUES (%s, tenancy.policy_fingerprint(), %s, clock_timestamp()) ON CONFLICT (only_row) DO UPDATE "
        "SET revision = excluded.revision, fingerprint = excluded.fingerprint, files = excluded.files, "
        "applied_at = excluded.applied_at",
        (expected_revision(), files),
    )


def _files_digest() -> str:
    digest = sha256()
    for path in [*_sql_files("functions"), *_sql_files("policies")]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _sql_files(folder: str) -> list[Path]:
    return sorted((SQL_FOLDER / folder).glob("*.sql"))


def _name(*parts: str) -> sql.Identifier:
    return sql.Identifier(*parts)
