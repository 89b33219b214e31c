"""When the database gives up or goes away, the caller learns what became of the work, and the next call works."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tenancy.errors import DatabaseUnavailableError, OutcomeUnknownError
from tests.cast import Cast
from tests.tenancy.pool_of_one import WRITE, Act, Pool, pool_of
from tests.tenancy.wire_proxy import WireProxy, wire_proxy
from tests.world import World


@pytest.fixture
def pool(world: World, app_line: str) -> Iterator[Pool]:
    with pool_of(world, conninfo=app_line) as opened:
        yield opened


@pytest.fixture
def proxy(app_line: str) -> Iterator[WireProxy]:
    parts = conninfo_to_dict(app_line)
    with wire_proxy(Path(str(parts["host"])) / f".s.PGSQL.{parts['port']}") as opened:
        yield opened


@pytest.fixture
def distant_pool(world: World, app_line: str, proxy: WireProxy) -> Iterator[Pool]:
    """A pool whose one connection goes through the proxy."""
    with pool_of(world, conninfo=make_conninfo(app_line, host=str(proxy.folder))) as opened:
        yield opened


def _terminate(world: World, backend: int) -> None:
    assert world.rows("SELECT pg_terminate_backend(%s, 5000)", backend) == [(True,)]


def _ended_by(world: World) -> Act:
    """End the backend that the transaction runs on."""
    return lambda connection: _terminate(world, connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())


def test_a_statement_that_takes_too_long_stores_nothing(world: World, cast: Cast, pool: Pool) -> None:
    backend = pool.backend()
    with pytest.raises(DatabaseUnavailableError):
        pool.run(cast.owner.identity, WRITE, "SET LOCAL statement_timeout = '50ms'", "SELECT pg_sleep(5)")
    assert world.rows("SELECT text FROM app.blocks") == []
    pool.assert_clean()
    assert pool.backend() == backend


def test_a_lock_that_is_not_had_stores_nothing(world: World, cast: Cast, pool: Pool) -> None:
    pool.run(cast.owner.identity, WRITE)
    with world.superuser() as other, other.transaction():
        other.execute("SELECT FROM app.blocks FOR UPDATE")
        with pytest.raises(DatabaseUnavailableError):
            pool.run(cast.owner.identity, "SET LOCAL lock_timeout = '50ms'", "UPDATE app.blocks SET text = 'Changed'")
    pool.assert_clean()
    assert pool.read(cast.owner.identity) == ["Mine"]


def test_a_connection_that_died_in_the_pool_is_replaced(world: World, cast: Cast, pool: Pool) -> None:
    pool.run(cast.owner.identity, WRITE)
    backend = pool.backend()
    _terminate(world, backend)
    assert pool.read(cast.owner.identity) == ["Mine"]
    second = pool.backend()
    _terminate(world, second)
    with pool.binder.bound(cast.owner.identity) as connection:
        assert connection.exec_driver_sql("SELECT text FROM app.blocks").all() == [("Mine",)]
    assert len({backend, second, pool.backend()}) == 3
    pool.assert_clean()


def test_a_look_up_does_not_meet_a_connection_that_died_in_the_pool(world: World, pool: Pool) -> None:
    """A look-up may change something and is not repeated: the pool has to notice before it is sent."""
    for _ in range(20):
        _terminate(world, pool.backend())
        assert len(pool.binder.look_up("find_sign_in_provider", slug="acme")) == 1
        _terminate(world, pool.backend())
        assert pool.binder.readiness() is not None


def test_a_connection_that_dies_under_way_stores_nothing(world: World, cast: Cast, pool: Pool) -> None:
    with pytest.raises(DatabaseUnavailableError):
        pool.run(cast.owner.identity, WRITE, _ended_by(world), "SELECT 1")
    assert world.rows("SELECT text FROM app.blocks") == []
    pool.run(cast.owner.identity, WRITE)
    assert pool.read(cast.owner.identity) == ["Mine"]
    pool.assert_clean()


def test_a_connection_that_dies_before_the_commit_leaves_the_outcome_open(world: World, cast: Cast, pool: Pool) -> None:
    with pytest.raises(OutcomeUnknownError):
        pool.run(cast.owner.identity, WRITE, _ended_by(world))
    assert world.rows("SELECT text FROM app.blocks") == []
    assert pool.read(cast.owner.identity) == []
    pool.assert_clean()


def test_a_line_cut_during_the_commit_leaves_the_outcome_open(
    world: World, cast: Cast, proxy: WireProxy, distant_pool: Pool
) -> None:
    """Here the work was stored, and saying that it was not would have been a lie."""
    with pytest.raises(OutcomeUnknownError):
        distant_pool.run(cast.owner.identity, WRITE, lambda _: setattr(proxy, "cut_after_commit", True))
    deadline = time.monotonic() + 5
    while world.rows("SELECT text FROM app.blocks") != [("Mine",)]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert distant_pool.read(cast.owner.identity) == ["Mine"]
    distant_pool.assert_clean()


def test_reads_take_one_round_trip(cast: Cast, proxy: WireProxy, distant_pool: Pool) -> None:
    owner = cast.owner.identity
    assert distant_pool.read(owner) == []
    proxy.round_trips = 0
    for _ in range(10):
        distant_pool.read(owner)
    assert proxy.round_trips == 10
    proxy.round_trips = 0
    distant_pool.run(owner, "SELECT 1")
    assert proxy.round_trips == 3  # begin with the binding, the statement, the commit
