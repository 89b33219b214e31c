"""Binding: the one place that begins a transaction, binds it to an identity and commits it.

A bound transaction carries the signed identity in `keepline.identity`, set for the transaction alone by a bound
parameter. Policies read it; without it nobody sees anything. Nothing of an identity outlives its transaction.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import psycopg
from psycopg import pq
from sqlalchemy import ClauseElement, Connection, Engine, PoolProxiedConnection
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.sql.compiler import SQLCompiler

from tenancy.errors import (
    DatabaseUnavailableError,
    IdentityRejectedError,
    OutcomeUnknownError,
    SignedOutError,
    UnavailableError,
    UnknownClientError,
)
from tenancy.identity import NO_BACKEND, Identity, Signer
from tenancy.pipeline import Row, run_in_one_round_trip

logger = logging.getLogger(__name__)

_BIND = b"SELECT set_config('keepline.identity', $1, true)"
# In the same statement, so that it costs no round trip; a select list is evaluated from left to right.
_BIND_AND_ADMIT = _BIND + b", tenancy.admit($2, $3)"
_DIALECT = PGDialect_psycopg(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call] # SQLAlchemy leaves it untyped
_CANNOT_ANSWER = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.IdleInTransactionSessionTimeout,  # which is an InternalError to psycopg
)
_REJECTED = psycopg.errors.InvalidAuthorizationSpecification
_SIGNED_OUT, _CLIENT_REVOKED = "KL001", "KL002"  # raised by tenancy.admit


Statement = tuple[bytes, list[Any]]
"""SQL with `$1` parameters, and their values."""


class Read(NamedTuple):
    """A statement compiled for the pipeline: its SQL with `$1` parameters, and their names in order."""

    sql: bytes
    parameter_names: tuple[str, ...]
    constants: Mapping[str, Any]


def compile_read(statement: ClauseElement) -> Read:
    """Compile a SQLAlchemy Core statement once, for `Binder.read`."""
    compiled = cast(SQLCompiler, statement.compile(dialect=_DIALECT))
    constants = {name: value for name, value in compiled.params.items() if value is not None}
    return Read(str(compiled).encode(), tuple(compiled.positiontup or ()), constants)


class Binder:
    """Runs transactions on a pool, each bound to the identity it is given."""

    def __init__(self, engine: Engine, signer: Signer) -> None:
        self._engine = engine
        self._signer = signer

    @contextmanager
    def bound(self, identity: Identity) -> Iterator[Connection]:
        """Open a transaction bound to the identity; commit at the end, roll back on any exception.

        Raises:
            SignedOutError, UnknownClientError: the token that the identity comes from is not in force any more.
            DatabaseUnavailableError: the database did not answer, or gave the work up; nothing is stored.
            OutcomeUnknownError: the connection broke during the commit.

        """
        with _translated(identity), self._begun(identity) as connection:
            yield connection

    def read(self, identity: Identity, reads: Sequence[tuple[Read, Mapping[str, Any]]]) -> list[list[Row]]:
        """Run reads in one transaction bound to the identity, in one round trip, and return the rows of each.

        Raises:
            SignedOutError, UnknownClientError: the token that the identity comes from is not in force any more.
            DatabaseUnavailableError: the database did not answer.

        """
        with _translated(identity):
            try:
                return self._read_once(identity, reads)
            except _CANNOT_ANSWER as error:
                if isinstance(error, psycopg.errors.QueryCanceled | _REJECTED):
                    raise
                return self._read_once(identity, reads)  # a read repeats safely on a fresh connection

    def look_up(self, function: str, **fields: Any) -> list[Row]:
        """Call one of the guard's look-ups with a signed ticket, before an identity is known.

        Raises:
            DatabaseUnavailableError: the database did not answer.

        """
        # `function` is always a literal of this code base; identifiers can't be bound.
        statement = f"SELECT * FROM tenancy.{function}($1)".encode()  # noqa: S608 - see above
        with _translated(), self._pooled() as pooled:
            return _run(pooled, [(statement, [self._signer.ticket(function, fields)])])[0]

    def look_up_within(self, connection: Connection, function: str, **fields: Any) -> list[Row]:
        """Call one of the guard's look-ups in a transaction that is open, so that it stands or falls with it."""
        statement = f"SELECT * FROM tenancy.{function}(%s)"  # noqa: S608 - always a literal of this code base
        return _driver(connection).execute(statement, (self._signer.ticket(function, fields),)).fetchall()

    def readiness(self) -> tuple[str, bool] | None:
        """Return the applied revision and whether the policies are those of the last migrate.

        Asked with a ticket, so that an answer also shows that the database knows this process' key.

        Raises:
            DatabaseUnavailableError, IdentityRejectedError: the database did not answer, or does not know the key.

        """
        rows = self.look_up("readiness")
        return (rows[0][0], rows[0][1]) if rows else None

    def close(self) -> None:
        """Close the pool's connections."""
        self._engine.dispose()

    def _read_once(self, identity: Identity, reads: Sequence[tuple[Read, Mapping[str, Any]]]) -> list[list[Row]]:
        with self._pooled() as pooled:
            statements: list[Statement] = [self._binding(identity, pooled)]
            for read, values in reads:
                given = {**read.constants, **values}
                statements.append((read.sql, [given[name] for name in read.parameter_names]))
            return _run(pooled, statements)[1:]

    @contextmanager
    def _pooled(self) -> Iterator[PoolProxiedConnection]:
        """Check out the pool's own connection: a Connection around it would cost more than binding does."""
        pooled = self._engine.raw_connection()
        try:
            yield pooled
        finally:
            if cast("psycopg.Connection[Any]", pooled.driver_connection).closed:
                pooled.invalidate()
            pooled.close()

    @contextmanager
    def _begun(self, identity: Identity) -> Iterator[Connection]:
        with self._open(identity) as connection, _discarded_when_broken(connection):
            driver = _driver(connection)
            try:
                yield connection
                if driver.info.transaction_status != pq.TransactionStatus.INTRANS:
                    raise DatabaseUnavailableError  # an error was swallowed inside: committing would store nothing
            except BaseException:
                driver.rollback()
                raise
            try:
                driver.execute("COMMIT")
            except _CANNOT_ANSWER as error:
                raise OutcomeUnknownError from error

    @contextmanager
    def _open(self, identity: Identity) -> Iterator[Connection]:
        """Check out a connection and begin on it; one that went stale in the pool is replaced once."""
        connection = self._engine.connect()
        try:
            try:
                self._begin(connection, identity)
            except _CANNOT_ANSWER as error:
                connection.invalidate(error)
                connection.close()
                connection = self._engine.connect()
                self._begin(connection, identity)
            yield connection
        finally:
            connection.close()

    def _begin(self, connection: Connection, identity: Identity) -> None:
        driver = _driver(connection)
        try:
            _run(connection.connection, [(b"BEGIN", []), self._binding(identity, connection.connection)])
        except psycopg.Error:
            if not driver.closed:
                driver.rollback()
            raise

    def _binding(self, identity: Identity, pooled: PoolProxiedConnection) -> Statement:
        token = self._signer.identity_token(identity, _direct_backend(pooled))
        if identity.origin is None:
            return _BIND, [token]
        return _BIND_AND_ADMIT, [token, identity.origin.issued_at, identity.origin.client_id]


def _run(pooled: PoolProxiedConnection, statements: Sequence[Statement]) -> list[list[Row]]:
    driver = cast("psycopg.Connection[Any]", pooled.driver_connection)
    return run_in_one_round_trip(driver, statements, empty_first=_direct_backend(pooled) != NO_BACKEND)


def _direct_backend(pooled: PoolProxiedConnection) -> int:
    """Return the backend's pid where the connection is direct; behind a pooler it is not known."""
    return int(pooled.info.get("backend_pid", NO_BACKEND))


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver = connection.connection.driver_connection
    if driver is None:
        raise DatabaseUnavailableError
    return driver  # type: ignore[no-any-return] # SQLAlchemy types every driver's connection as Any


@contextmanager
def _discarded_when_broken(connection: Connection) -> Iterator[None]:
    """Throw a connection away when it broke, so that nobody else is handed it."""
    try:
        yield
    finally:
        if not connection.invalidated and _driver(connection).closed:
            connection.invalidate()


@contextmanager
def _translated(identity: Identity | None = None) -> Iterator[None]:
    """Turn "the database does not answer" and "it does not accept us" of either library into the domain's errors."""
    try:
        yield
    except psycopg.Error as error:
        if isinstance(error, _CANNOT_ANSWER):
            raise _domain_error(error) from error
        if error.sqlstate == _SIGNED_OUT:
            raise SignedOutError from error
        if error.sqlstate == _CLIENT_REVOKED and identity is not None and identity.origin is not None:
            raise UnknownClientError(identity.origin.client_id) from error
        raise
    except DBAPIError as error:
        if isinstance(error.orig, _CANNOT_ANSWER):
            raise _domain_error(error.orig) from error
        raise
    except SQLAlchemyError as error:
        if error.code == "3o7r":  # the pool gave no connection in time
            raise DatabaseUnavailableError from error
        raise


def _domain_error(error: BaseException) -> UnavailableError:
    if not isinstance(error, _REJECTED):
        return DatabaseUnavailableError()
    logger.error("The database rejected a signed identity: is KEEPLINE_IDENTITY_KEY the one of the last migrate?")
    return IdentityRejectedError()
