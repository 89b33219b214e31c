"""Runs one cell of the matrix: an actor tries a verb on the owner's row, through the app's own binding."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from tenancy.binding import Binder
from tenancy.database import create_pool, web_login, worker_login
from tenancy.identity import Identity
from tests.cast import Cast
from tests.tenancy.app_role import signer_of
from tests.tenancy.matrix_rows import Target
from tests.world import World

ALLOWED, INVISIBLE, DENIED = "allowed", "-", "denied"


class _Undo(Exception):  # noqa: N818 - it is no error
    """Rolls an allowed act back, so that the next actor meets the same row."""


class Matrix:
    """The actors: the cast and nobody as the web, the owner, a stranger and nobody as the worker."""

    def __init__(self, world: World, cast: Cast) -> None:
        self._world = world
        self._owner = cast.owner.identity
        self._engines = (create_pool(web_login(world.settings), 1), create_pool(worker_login(world.settings), 1))
        web, worker = (Binder(engine, signer_of(world)) for engine in self._engines)
        people: Mapping[str, Identity] = {name: person.identity for name, person in cast}
        self.actors: dict[str, Callable[[], Any]] = {
            **{name: _bound(web, identity) for name, identity in people.items()},
            "nobody": _unbound(self._engines[0]),
            # A job's identity comes from a row, not from a token.
            "worker": _bound(worker, replace(self._owner, origin=None)),
            "worker_stranger": _bound(worker, replace(people["stranger"], origin=None)),
            "worker_nobody": _unbound(self._engines[1]),
        }

    def close(self) -> None:
        for engine in self._engines:
            engine.dispose()

    def rows_changed(self, actor: str, statement: str) -> int | str:
        """Return how many rows a statement without a condition changes, undone; or the refusal."""
        changed: int | str = 0
        try:
            with self.actors[actor]() as connection:
                changed = connection.exec_driver_sql(statement).rowcount
                raise _Undo
        except _Undo:
            return changed
        except DBAPIError as error:
            return _refusal(error)

    def row(self, table: str, target: Target, verb: str) -> list[str]:
        """Return what each actor meets, in the order of the actors."""
        return [self.cell(table, target, verb, actor) for actor in self.actors]

    def cell(self, table: str, target: Target, verb: str, actor: str) -> str:
        """Try it. What is not allowed is committed, and must have left the table as it was."""
        before = self._stored(table)
        statement = self._filled(target.statement(table, verb))
        outcome = ""
        try:
            with self.actors[actor]() as connection:
                if verb in ("insert", "name"):
                    connection.exec_driver_sql(self._filled(target.before_insert))
                outcome = ALLOWED if connection.exec_driver_sql(statement).rowcount else INVISIBLE
                if outcome == ALLOWED or verb in ("insert", "name"):
                    raise _Undo
        except _Undo:
            pass
        except DBAPIError as error:
            outcome = _refusal(error)
        assert self._stored(table) == before, f"{actor}: {verb} on {table} changed rows"
        if outcome == INVISIBLE:
            assert self._world.rows(self._filled(f"SELECT 1 FROM app.{table} WHERE {target.key}")) == [(1,)]
        return outcome

    def _stored(self, table: str) -> list[tuple[Any, ...]]:
        return self._world.rows(f"SELECT t::text FROM app.{table} t ORDER BY 1")

    def _filled(self, statement: str) -> str:
        org, user = f"'{self._owner.org_id}'::uuid", f"'{self._owner.user_id}'::uuid"
        return statement.replace(":org", org).replace(":user", user)


def _refusal(error: DBAPIError) -> str:
    assert isinstance(error.orig, psycopg.Error)
    return DENIED if error.orig.sqlstate == "42501" else f"error {error.orig.sqlstate}"


def _bound(binder: Binder, identity: Identity) -> Callable[[], Any]:
    return lambda: binder.bound(identity)


def _unbound(engine: Engine) -> Callable[[], Any]:
    @contextmanager
    def transaction() -> Iterator[Connection]:
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN")
            try:
                yield connection
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise

    return transaction
