"""A transaction is bound for its own length: commits are real, and one connection serves everybody in turn."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from tenancy.errors import DatabaseUnavailableError
from tests.cast import Cast
from tests.tenancy.pool_of_one import EVERY_TEXT, OWN_TEXT, WRITE, Pool, pool_of, swallow_an_error
from tests.world import World


@pytest.fixture
def pool(world: World, app_line: str) -> Iterator[Pool]:
    with pool_of(world, conninfo=app_line) as opened:
        yield opened


def test_a_bound_transaction_stores_and_sees_its_own(world: World, cast: Cast, pool: Pool) -> None:
    pool.run(cast.owner.identity, WRITE)
    assert world.rows("SELECT user_id, text FROM app.blocks") == [(cast.owner.user_id, "Mine")]
    assert pool.read(cast.owner.identity) == ["Mine"]


@pytest.mark.parametrize("name", ["teammate", "outsider", "lead", "reviewer", "admin", "stranger"])
def test_the_next_on_the_connection_sees_nothing_of_the_last(cast: Cast, pool: Pool, name: str) -> None:
    pool.run(cast.owner.identity, WRITE)
    backend = pool.backend()
    assert pool.read(getattr(cast, name).identity) == []
    with pool.binder.bound(getattr(cast, name).identity) as connection:
        assert connection.exec_driver_sql("SELECT text FROM app.blocks").all() == []
    assert pool.read(cast.owner.identity) == ["Mine"]
    assert pool.backend() == backend


def test_who_binds_nobody_sees_nothing_after_a_bound_transaction(cast: Cast, pool: Pool) -> None:
    """Step 2 of a health check, a failed sign-in or a job's start, on the connection that just served somebody."""
    pool.run(cast.owner.identity, WRITE)
    pool.assert_clean()
    assert pool.read(cast.owner.identity) == ["Mine"]
    pool.assert_clean()


def test_an_exception_rolls_back_and_leaves_nobody_bound(world: World, cast: Cast, pool: Pool) -> None:
    ids: dict[str, int] = {}
    backend = pool.backend()
    with pytest.raises(KeyError):
        pool.run(cast.owner.identity, WRITE, lambda _: ids["missing"])
    assert world.rows("SELECT text FROM app.blocks") == []
    pool.assert_clean()
    assert pool.backend() == backend


def test_a_failed_statement_rolls_back_and_leaves_nobody_bound(world: World, cast: Cast, pool: Pool) -> None:
    backend = pool.backend()
    with pytest.raises(DBAPIError):
        pool.run(cast.owner.identity, WRITE, "SELECT 1 / 0")
    assert world.rows("SELECT text FROM app.blocks") == []
    pool.assert_clean()
    assert pool.backend() == backend


def test_a_failed_read_leaves_nobody_bound(cast: Cast, pool: Pool) -> None:
    backend = pool.backend()
    with pytest.raises(Exception, match="invalid input syntax"):
        pool.binder.read(cast.owner.identity, [(EVERY_TEXT, {}), (OWN_TEXT, {"org_id": "?", "user_id": "?"})])
    pool.assert_clean()
    assert pool.backend() == backend


def test_a_swallowed_error_never_passes_for_success(world: World, cast: Cast, pool: Pool) -> None:
    with pytest.raises(DatabaseUnavailableError):
        pool.run(cast.owner.identity, WRITE, swallow_an_error)
    assert world.rows("SELECT text FROM app.blocks") == []
    pool.assert_clean()


def test_a_commit_inside_leaves_what_follows_with_nobody(cast: Cast, pool: Pool) -> None:
    """Code that ends the transaction itself finds no row afterwards, and is told."""
    seen: list[object] = []

    def look(connection: Connection) -> None:
        seen.append(connection.exec_driver_sql("SELECT text FROM app.blocks").all())

    with pytest.raises(DatabaseUnavailableError):
        pool.run(cast.owner.identity, WRITE, look, "COMMIT", look)
    assert seen == [[("Mine",)], []]
    pool.assert_clean()


def test_a_released_savepoint_keeps_its_work(world: World, cast: Cast, pool: Pool) -> None:
    with pool.binder.bound(cast.owner.identity) as connection:
        with connection.begin_nested():
            connection.exec_driver_sql(WRITE)
        assert connection.exec_driver_sql("SELECT text FROM app.blocks").all() == [("Mine",)]
    assert world.rows("SELECT user_id, text FROM app.blocks") == [(cast.owner.user_id, "Mine")]
    pool.assert_clean()


def test_a_savepoint_that_failed_leaves_the_transaction_bound(world: World, cast: Cast, pool: Pool) -> None:
    def fail_in_a_savepoint(connection: Connection) -> None:
        with connection.begin_nested():
            connection.exec_driver_sql(WRITE.replace("Mine", "Undone"))
            connection.exec_driver_sql("SELECT 1 / 0")

    with pool.binder.bound(cast.owner.identity) as connection:
        with pytest.raises(DBAPIError):
            fail_in_a_savepoint(connection)
        connection.exec_driver_sql(WRITE)
    assert world.rows("SELECT user_id, text FROM app.blocks") == [(cast.owner.user_id, "Mine")]
    pool.assert_clean()


def test_an_identity_set_in_a_savepoint_is_gone_with_it(cast: Cast, pool: Pool) -> None:
    with pool.binder.bound(cast.owner.identity) as connection:
        connection.exec_driver_sql(WRITE)
        savepoint = connection.begin_nested()
        connection.exec_driver_sql("SELECT set_config('keepline.identity', '', true)")
        assert connection.exec_driver_sql("SELECT text FROM app.blocks").all() == []
        savepoint.rollback()
        assert connection.exec_driver_sql("SELECT text FROM app.blocks").all() == [("Mine",)]
    pool.assert_clean()


def test_an_identity_bound_outside_a_transaction_is_gone_at_once(cast: Cast, pool: Pool) -> None:
    with pool.binder.bound(cast.owner.identity) as connection:
        connection.exec_driver_sql(WRITE)
        token = connection.exec_driver_sql("SELECT current_setting('keepline.identity')").scalar_one()
    with pool.engine.connect() as connection:
        connection.exec_driver_sql("SELECT set_config('keepline.identity', %s, true)", (token,))
        assert connection.exec_driver_sql("SELECT text FROM app.blocks").all() == []
    pool.assert_clean()


def test_several_reads_answer_in_their_order(cast: Cast, pool: Pool) -> None:
    owner = cast.owner.identity
    pool.run(owner, WRITE)
    ids = {"org_id": owner.org_id, "user_id": owner.user_id}
    others = {"org_id": owner.org_id, "user_id": cast.teammate.user_id}
    answers = pool.binder.read(owner, [(OWN_TEXT, ids), (OWN_TEXT, others), (EVERY_TEXT, {})])
    assert answers == [[("Mine",)], [], [("Mine",)]]
