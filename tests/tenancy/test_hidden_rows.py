"""Rows that a policy hides show themselves in no other way: by errors, statistics, copies, plans or merges."""

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


@pytest.mark.parametrize("name", ["teammate", "stranger"])
def test_an_error_never_comes_from_a_hidden_row(cast: Cast, pool: Pool, name: str) -> None:
    """A cast that fails shows the value in its message; on a hidden row it is never tried."""
    leaking = "SELECT count(*) FROM app.blocks WHERE (text || user_id)::int = 1"
    with pytest.raises(DBAPIError, match=TEXT):
        pool.run(cast.owner.identity, leaking)
    pool.run(getattr(cast, name).identity, leaking)


@pytest.mark.parametrize("column", ["org_id", "user_id"])
def test_a_row_is_not_moved_to_somebody_else(world: World, cast: Cast, pool: Pool, column: str) -> None:
    before = world.rows("SELECT b::text FROM app.blocks b")
    other = getattr(cast.stranger.identity, column)
    with pytest.raises(DBAPIError) as refusal:
        pool.run(cast.owner.identity, f"UPDATE app.blocks SET {column} = '{other}'")
    assert isinstance(refusal.value.orig, psycopg.errors.InsufficientPrivilege)
    assert world.rows("SELECT b::text FROM app.blocks b") == before


def test_a_merge_finds_no_hidden_row(world: World, cast: Cast, pool: Pool) -> None:
    owner = cast.owner.identity
    merge = (
        f"MERGE INTO app.blocks b USING (SELECT '{owner.org_id}'::uuid AS org, '{owner.user_id}'::uuid AS person) s "
        "ON b.org_id = s.org AND b.user_id = s.person WHEN MATCHED THEN UPDATE SET text = 'Changed'"
    )
    pool.run(cast.teammate.identity, merge)
    assert world.rows("SELECT text FROM app.blocks") == [(TEXT,)]
    pool.run(owner, merge)
    assert world.rows("SELECT text FROM app.blocks") == [("Changed",)]


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


def test_a_copy_holds_what_is_seen(connection: Connection) -> None:
    with connection.cursor().copy("COPY app.blocks TO STDOUT") as copied:
        assert list(copied) == []
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        connection.execute("COPY app.blocks (text, updated_at, updated_by_writer, updated_by_client) FROM STDIN")


def test_statistics_say_nothing_to_the_app(world: World, connection: Connection) -> None:
    with world.superuser() as superuser:
        superuser.execute("ANALYZE app.blocks, app.block_lines, app.users, app.audit_details")
    assert world.rows("SELECT count(*) > 0 FROM pg_stats WHERE schemaname = 'app'") == [(True,)]
    assert connection.execute("SELECT count(*) FROM pg_stats WHERE schemaname = 'app'").fetchone() == (0,)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT count(*) FROM pg_statistic")
    sampled = "SELECT attname FROM pg_stats WHERE schemaname = 'app' AND tablename = 'blocks'"
    assert "text" not in {name for (name,) in world.rows(sampled)}
