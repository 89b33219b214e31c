"""What a statement left behind in the database session is gone before anybody else is bound on it."""

from collections.abc import Callable, Iterator

import pytest

from tests.cast import Cast
from tests.tenancy.app_role import signer_of
from tests.tenancy.pool_of_one import WRITE, Pool, pool_of
from tests.world import World

LEFT_BEHIND = {
    "an identity of the session": "SELECT set_config('keepline.identity', 'forged', false)",
    "read-only from now on": "SET default_transaction_read_only = on",
    "another place to look for names": "SET search_path = pg_temp, tenancy",
    "less time": "SET statement_timeout = '9s'",
    "a prepared statement": "PREPARE planted AS SELECT 1",
    "a cursor that outlives its transaction": "DECLARE planted CURSOR WITH HOLD FOR SELECT 1",
    "a channel": "LISTEN planted",
}
STATE = (
    "SELECT coalesce(current_setting('keepline.identity', true), ''), current_setting('search_path'), "
    "current_setting('default_transaction_read_only'), current_setting('statement_timeout'), "
    "(SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_cursors WHERE is_holdable), "
    "(SELECT count(*) FROM pg_listening_channels())"
)


@pytest.fixture
def pool(world: World) -> Iterator[Pool]:
    with pool_of(world) as opened:
        yield opened


def _plant(pool: Pool, statement: str) -> None:
    with pool.engine.connect() as connection:
        connection.exec_driver_sql(statement)


def _state(pool: Pool) -> tuple[object, ...]:
    with pool.engine.connect() as connection:
        return tuple(connection.exec_driver_sql(STATE).one())


USES: dict[str, Callable[[World, Cast, Pool], object]] = {
    "a transaction": lambda _, cast, pool: pool.run(cast.owner.identity, WRITE),
    "a read": lambda _, cast, pool: pool.read(cast.owner.identity),
    "a look-up": lambda _, __, pool: pool.binder.look_up("find_sign_in_provider", slug="acme"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("left", LEFT_BEHIND)
def test_it_is_gone_before_the_next_use_which_works(world: World, cast: Cast, pool: Pool, left: str, use: str) -> None:
    clean, backend = _state(pool), pool.backend()
    _plant(pool, LEFT_BEHIND[left])
    assert _state(pool) != clean
    USES[use](world, cast, pool)
    assert _state(pool) == clean
    assert pool.backend() == backend


def test_it_stays_gone_when_the_next_transaction_fails(cast: Cast, pool: Pool) -> None:
    """Emptying is a transaction of its own, which rolling the next one back does not undo."""
    clean = _state(pool)
    _plant(pool, LEFT_BEHIND["read-only from now on"])
    with pytest.raises(Exception, match="division by zero"):
        pool.run(cast.owner.identity, "SELECT 1 / 0")
    assert _state(pool) == clean


def test_somebody_elses_session_wide_identity_gives_nobody_anything(world: World, cast: Cast, pool: Pool) -> None:
    pool.run(cast.owner.identity, WRITE)
    token = signer_of(world).identity_token(cast.owner.identity)
    with pool.engine.connect() as connection:
        connection.exec_driver_sql("SELECT set_config('keepline.identity', %s, false)", (token,))
        assert connection.exec_driver_sql("SELECT text FROM app.blocks").all() == [("Mine",)]
    assert pool.read(cast.teammate.identity) == []
    pool.assert_clean()
