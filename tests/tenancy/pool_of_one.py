"""A binder over one connection, so that whatever a transaction leaves behind is met by the next."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, bindparam, select
from sqlalchemy.exc import DBAPIError

from memory.block.tables import blocks
from tenancy.binding import Binder, compile_read
from tenancy.database import Login, create_pool
from tenancy.identity import Identity
from tests.tenancy.app_role import signer_of
from tests.world import World

OWN_TEXT = compile_read(
    select(blocks.c.text).where(blocks.c.org_id == bindparam("org_id"), blocks.c.user_id == bindparam("user_id"))
)
EVERY_TEXT = compile_read(select(blocks.c.text))
TABLES_OF_THE_APP = (
    "audit_details", "audit_events", "block_lines", "blocks", "clients", "org_policies", "orgs", "users",
)  # fmt: skip
# A statement, or something to do with the connection.
Act = str | Callable[[Connection], object]


@dataclass
class Pool:
    """A binder and the engine below it."""

    binder: Binder
    engine: Engine

    def run(self, identity: Identity, *acts: Act) -> None:
        """Do the acts one after another in a transaction bound to the identity."""
        with self.binder.bound(identity) as connection:
            for act in acts:
                if isinstance(act, str):
                    connection.exec_driver_sql(act)
                else:
                    act(connection)

    def read(self, identity: Identity) -> list[str]:
        """Every text that the identity sees, by no predicate but the policy's."""
        [rows] = self.binder.read(identity, [(EVERY_TEXT, {})])
        return [text for (text,) in rows]

    def backend(self) -> int:
        with self.engine.connect() as connection:
            return int(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())

    def assert_clean(self) -> None:
        """On the next connection handed out: no transaction, no identity, no row of anybody."""
        with self.engine.connect() as connection:
            seen = "SELECT coalesce(current_setting('keepline.identity', true), '')"
            assert connection.exec_driver_sql(seen).scalar_one() == ""
            _assert_nobody(connection)
            connection.exec_driver_sql("BEGIN")
            _assert_nobody(connection)
            connection.exec_driver_sql("ROLLBACK")


def _assert_nobody(connection: Connection) -> None:
    for table in TABLES_OF_THE_APP:
        assert connection.exec_driver_sql(f"SELECT count(*) FROM app.{table}").scalar_one() == 0, table
    assert connection.exec_driver_sql("SELECT count(id) FROM app.web_sessions").scalar_one() == 0


@contextmanager
def pool_of(world: World, size: int = 1, conninfo: str | None = None) -> Iterator[Pool]:
    """Make a pool that logs in as the web does, directly unless `conninfo` leads through something else."""
    engine = create_pool(Login("keepline_app", conninfo or world.app_conninfo()), size)
    yield Pool(Binder(engine, signer_of(world)), engine)
    engine.dispose()


WRITE = (
    "INSERT INTO app.blocks (text, updated_at, updated_by_writer, updated_by_client) "
    "VALUES ('Mine', now(), 'user', 'test')"
)


def swallow_an_error(connection: Connection) -> None:
    """Do what careless code does."""
    try:
        connection.exec_driver_sql("SELECT 1 / 0")
    except DBAPIError:
        return
    raise AssertionError("the division did not fail")
