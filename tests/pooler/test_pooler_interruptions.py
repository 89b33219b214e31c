"""What breaks off in the middle leaves the pooler's connections clean, and stores nothing."""

import os
import socket
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from tenancy.errors import DatabaseUnavailableError
from tenancy.guards import PUBLIC, GuardedFlask, guarded
from tenancy.services import current_services
from tests.cast import Cast
from tests.pooler_server import Pooler
from tests.tenancy.app_role import bind, signer_of
from tests.tenancy.pool_of_one import WRITE, Pool, pool_of
from tests.world import World, external_database

SECONDS_AT_MOST = 10


@pytest.fixture
def pool(world: World, pooler_of_one: Pooler) -> Iterator[Pool]:
    with pool_of(world, conninfo=pooler_of_one.conninfo("keepline_app")) as opened:
        yield opened


@pytest.mark.parametrize("how", ["closes", "is cut off"])
def test_a_client_that_goes_away_in_a_transaction(
    world: World, cast: Cast, pooler_of_one: Pooler, pool: Pool, how: str
) -> None:
    connection = psycopg.connect(pooler_of_one.conninfo("keepline_app"), prepare_threshold=None)
    bind(connection, signer_of(world).identity_token(cast.owner.identity))
    connection.execute(WRITE)
    assert connection.execute("SELECT text FROM app.blocks").fetchall() == [("Mine",)]
    if how == "closes":
        connection.close()
    else:
        _cut(connection)
    pool.assert_clean()
    assert pool.read(cast.owner.identity) == []
    assert pool.read(cast.stranger.identity) == []
    assert world.rows("SELECT text FROM app.blocks") == []
    connection.close()


def test_a_client_that_goes_away_while_its_statement_runs(
    world: World, cast: Cast, pooler_of_one: Pooler, pool: Pool
) -> None:
    connection = psycopg.connect(pooler_of_one.conninfo("keepline_app"), prepare_threshold=None)
    bind(connection, signer_of(world).identity_token(cast.owner.identity))
    connection.execute(WRITE)
    connection.pgconn.send_query(b"SELECT pg_sleep(2)")
    connection.pgconn.flush()
    _cut(connection)
    began = time.monotonic()
    pool.assert_clean()
    assert time.monotonic() - began < SECONDS_AT_MOST
    assert world.rows("SELECT text FROM app.blocks") == []
    connection.close()


def test_a_deadlock_gives_one_of_the_two_up(world: World, cast: Cast, pooler: Pooler) -> None:
    """Two windows of one person; both connections then serve somebody else."""
    assert cast.owner.program.write("- Mine.").status_code == 200
    changes = ["UPDATE app.blocks SET text = %s", "UPDATE app.block_lines SET conversation_id = %s"]
    outcomes: list[str] = []
    both = threading.Barrier(2)

    def work(pool: Pool, first: int) -> None:
        word = f"window {first}"
        try:
            with pool.binder.bound(cast.owner.identity) as connection:
                connection.exec_driver_sql(changes[first], (word,))
                both.wait(SECONDS_AT_MOST)
                connection.exec_driver_sql(changes[1 - first], (word,))
            outcomes.append(word)
        except DatabaseUnavailableError:
            outcomes.append("given up")

    with pool_of(world, 2, pooler.conninfo("keepline_app")) as pool:
        threads = [threading.Thread(target=work, args=(pool, first)) for first in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [stored] = set(outcomes) - {"given up"}
        assert world.rows("SELECT text, conversation_id FROM app.blocks, app.block_lines") == [(stored, stored)]
        assert pool.read(cast.owner.identity) == [stored]
        assert pool.read(cast.stranger.identity) == []
        for _ in range(4):
            pool.assert_clean()


@pytest.fixture
def app_of_one(world: World, pooler_of_one: Pooler) -> Iterator[GuardedFlask]:
    """An app whose one connection goes through a pooler that has one, too, with a route that breaks off half-way."""
    through = external_database(world.settings, world.server, pooler_of_one)
    with world.another_app(**through, KEEPLINE_WEB_THREADS="1") as app:
        yield app


@pytest.mark.parametrize("statement", ["no_such_function()", "pg_sleep(60)"])
def test_a_request_that_breaks_off_leaves_nobody_bound(
    world: World, cast: Cast, app_of_one: GuardedFlask, pool: Pool, statement: str
) -> None:
    identity = cast.owner.identity

    @guarded(PUBLIC)
    def break_off() -> str:
        with current_services().binder.bound(identity) as connection:
            connection.exec_driver_sql(WRITE)
            connection.exec_driver_sql("SET LOCAL statement_timeout = '100ms'")
            connection.exec_driver_sql(f"SELECT {statement}")
        return "never"

    app_of_one.add_url_rule("/v1/break-off", "break_off", break_off)
    headers = {"Authorization": f"Bearer {cast.owner.program.token}"}
    client = app_of_one.test_client()
    for _ in range(3):
        assert client.get("/v1/break-off", headers=headers).status_code in (500, 503)
        assert client.get("/v1/memory/block", headers=headers).get_json()["exists"] is False
        stranger = {"Authorization": f"Bearer {cast.stranger.program.token}"}
        assert client.get("/v1/memory/block", headers=stranger).get_json()["exists"] is False
    pool.assert_clean()
    assert world.rows("SELECT text FROM app.blocks") == []


def _cut(connection: psycopg.Connection[object]) -> None:
    """End the line as a process that was killed does: without a word."""
    with socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)
