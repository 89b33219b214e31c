"""Plans, owners and conflicts of rows that a policy hides; `hostile/` tries every other way to find or change them."""

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from tests.cast import Cast
from tests.tenancy.app_role import Connection, app_connection, bind, signer_of
from tests.tenancy.pool_of_one import Pool, pool_of
from tests.world import World

TEXT = "Only mine"


@pytest.fixture
def pool(world: World, cast: Cast) -> Iterator[Pool]:
    """A pool, and a block of the owner."""
    assert cast.owner.program.write(TEXT).status_code == 200
    with pool_of(world) as opened:
        yield opened


@pytest.fixture
def connection(world: World, pool: Pool) -> Iterator[Connection]:  # noqa: ARG001 - for the block that it stores
    with app_connection(world) as opened:
        yield opened


def test_a_prepared_statement_answers_who_runs_it(world: World, cast: Cast, connection: Connection) -> None:
    """The pools never prepare; should a statement be prepared all the same, its plan holds nobody's identity."""
    connection.execute("SET plan_cache_mode = force_generic_plan")
    connection.execute("PREPARE texts AS SELECT text FROM app.blocks")
    signer = signer_of(world)
    expected = [("owner", [(TEXT,)]), ("stranger", []), ("teammate", []), ("owner", [(TEXT,)])]
    for name, rows in expected:
        with connection.transaction():
            bind(connection, signer.identity_token(getattr(cast, name).identity, connection.info.backend_pid))
            assert connection.execute("EXECUTE texts").fetchall() == rows
    assert connection.execute("EXECUTE texts").fetchall() == []


@pytest.mark.parametrize("column", ["org_id", "user_id"])
def test_a_row_is_not_moved_to_somebody_else(world: World, cast: Cast, pool: Pool, column: str) -> None:
    before = world.rows("SELECT b::text FROM app.blocks b")
    other = getattr(cast.stranger.identity, column)
    with pytest.raises(DBAPIError) as refusal:
        pool.run(cast.owner.identity, f"UPDATE app.blocks SET {column} = '{other}'")
    assert isinstance(refusal.value.orig, psycopg.errors.InsufficientPrivilege)
    assert world.rows("SELECT b::text FROM app.blocks b") == before


def test_a_conflict_is_ones_own(world: World, cast: Cast, pool: Pool) -> None:
    """Keys hold org and user, so that no insert meets, and so tells of, a row of somebody else."""
    upsert = (
        "INSERT INTO app.blocks (text, updated_at, updated_by_writer, updated_by_client) "
        "VALUES ('Mine', now(), 'user', 'x') ON CONFLICT (org_id, user_id) DO UPDATE SET text = 'Again'"
    )
    pool.run(cast.teammate.identity, upsert)
    pool.run(cast.teammate.identity, upsert)
    assert set(world.rows("SELECT user_id, text FROM app.blocks")) == {
        (cast.owner.user_id, TEXT), (cast.teammate.user_id, "Again"),
    }  # fmt: skip
