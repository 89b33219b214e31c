"""Whoever runs SQL of their own as the app or the worker, and everything that the database says to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from tests.cast import Cast
from tests.tenancy.app_role import Connection, bind, signer_of
from tests.world import World

LOGINS = ("keepline_app", "keepline_worker")
OTHERS = ("teammate", "admin", "stranger", "nobody")
SECRET = "Zyzzyva"  # a word of the owner's block, which nobody else may ever be told
_WHAT_THE_OWNER_HAS = ("blocks", "block_lines", "audit_events", "audit_details", "users", "web_sessions")


@dataclass
class Heard:
    """What came back: rows, the error if there was one, and every word of both and of all notices."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    error: psycopg.Error | None = None
    notices: list[str] = field(default_factory=list)

    @property
    def said(self) -> str:
        diagnosis = self.error.diag if self.error else None
        parts = [getattr(diagnosis, name) for name in dir(diagnosis) if not name.startswith("_")] if diagnosis else []
        return "\n".join([str(self.rows), str(self.error), *map(str, parts), *self.notices])

    @property
    def refusal(self) -> str | None:
        """The SQLSTATE of the error."""
        return self.error.sqlstate if self.error else None


@dataclass
class Scene:
    """The owner has a block with the secret word; everybody has one of their own."""

    world: World
    cast: Cast

    def token(self, name: str, backend_pid: int = 0) -> str | None:
        """The identity token of a person; None for nobody."""
        if name == "nobody":
            return None
        return signer_of(self.world).identity_token(getattr(self.cast, name).identity, backend_pid)

    @contextmanager
    def login(self, role: str, **parameters: Any) -> Iterator[Connection]:
        """Log in as the app or the worker, in autocommit."""
        conninfo = make_conninfo(self.world.server.conninfo(role), **parameters)
        with psycopg.connect(conninfo, autocommit=True, prepare_threshold=None) as connection:
            yield connection

    def hear(self, role: str, name: str, *statements: str) -> Heard:
        """Run statements in a transaction bound to a person, on a connection of its own, and return what was said.

        What the owner does is undone, as it is the control; what anybody else can do is committed.
        """
        with self.login(role) as connection:
            bound = lambda: bind(connection, self.token(name, connection.info.backend_pid))  # noqa: E731
            return run(connection, statements, bound, commit=name != "owner")

    def of_the_owner(self) -> dict[str, list[tuple[Any, ...]]]:
        """Everything that is stored for the owner."""
        owner = self.cast.owner.user_id
        return {
            table: self.world.rows(
                f"SELECT t::text FROM app.{table} t WHERE {'id' if table == 'users' else 'user_id'} = %s ORDER BY 1",
                owner,
            )
            for table in _WHAT_THE_OWNER_HAS
        }


def run(connection: Connection, statements: tuple[str, ...], bound: Any, *, commit: bool) -> Heard:
    """Run statements one after another in one transaction, up to the first error, and return what was said."""
    heard = Heard()
    connection.add_notice_handler(
        lambda notice: heard.notices.append(f"{notice.message_primary} {notice.message_detail}")
    )
    connection.execute("BEGIN")
    try:
        bound()
        for statement in statements:
            heard.rows += _rows(connection, statement)
    except psycopg.Error as error:
        heard.error = error
    connection.execute("COMMIT" if commit and heard.error is None else "ROLLBACK")
    return heard


def _rows(connection: Connection, statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        if statement.startswith("COPY") and statement.endswith("STDOUT"):
            with cursor.copy(statement.encode()) as copied:
                return [(bytes(part).decode("utf-8", "replace"),) for part in copied]
        cursor.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []
