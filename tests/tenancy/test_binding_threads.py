"""Threads that share connections never meet each other's rows, and no statement is prepared on the server."""

import threading

import pytest

from tests.cast import Cast, Person
from tests.tenancy.pool_of_one import WRITE, Pool, pool_of
from tests.world import World

TURNS = 1_000  # of each of the two threads


@pytest.mark.parametrize("size", [1, 2])
def test_two_identities_interleaved_never_cross(world: World, cast: Cast, app_line: str, size: int) -> None:
    seen: dict[str, list[list[str]]] = {"owner": [], "stranger": []}
    with pool_of(world, size, app_line) as pool:
        for name in seen:
            pool.run(getattr(cast, name).identity, WRITE.replace("Mine", name))
        _run_together(pool, cast, seen)
        pool.assert_clean()
    for name, answers in seen.items():
        assert len(answers) == TURNS
        assert all(answer == [name] for answer in answers)


def _run_together(pool: Pool, cast: Cast, seen: dict[str, list[list[str]]]) -> None:
    start = threading.Barrier(len(seen))

    def work(name: str, person: Person) -> None:
        identity = person.identity
        start.wait()
        for turn in range(TURNS):
            if turn % 4:
                seen[name].append(pool.read(identity))
                continue
            with pool.binder.bound(identity) as connection:
                rows = connection.exec_driver_sql("SELECT text FROM app.blocks").all()
                seen[name].append([row[0] for row in rows])

    threads = [threading.Thread(target=work, args=(name, getattr(cast, name))) for name in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_no_pooled_connection_prepares_statements(world: World, cast: Cast, app_line: str) -> None:
    with pool_of(world, 3, app_line) as pool:
        connections = [pool.engine.connect() for _ in range(3)]
        for connection in connections:
            driver = connection.connection.driver_connection
            assert driver is not None
            assert driver.prepare_threshold is None
            assert driver.autocommit
        for connection in connections:
            connection.close()
    with pool_of(world, conninfo=app_line) as pool:
        for _ in range(20):
            pool.read(cast.owner.identity)
            with pool.binder.bound(cast.owner.identity) as connection:
                connection.exec_driver_sql("SELECT text FROM app.blocks WHERE text = %s", ("x",))
        with pool.engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar_one() == 0


def test_no_token_stands_in_the_text_of_a_statement(world: World, cast: Cast, app_line: str) -> None:
    """Only superusers see it here; a token in it would be one copy too many."""
    with pool_of(world, conninfo=app_line) as pool, pool.binder.bound(cast.owner.identity) as connection:
        backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        with world.superuser() as looking:
            row = looking.execute("SELECT query FROM pg_stat_activity WHERE pid = %s", (backend,)).fetchone()
    assert row is not None
    assert str(cast.owner.user_id) not in (row[0] or "")
