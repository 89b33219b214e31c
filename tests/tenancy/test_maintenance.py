"""What works across orgs sees everything or fails: backfills, dumps, and reads with row security off."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from sqlalchemy import Connection, create_engine, text

from tenancy.backfill import backfill
from tenancy.database import operator_login
from tenancy.embedded import program
from tenancy.errors import SetupError
from tenancy.settings import PROJECT_FOLDER
from tests.cast import Cast
from tests.world import World

COUNT = "SELECT count(*) FROM app.blocks"
CHANGE = "UPDATE app.blocks SET updated_by_client = 'backfilled'"
FORCED = "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = 'app.blocks'::regclass"


@pytest.fixture
def two_blocks(cast: Cast) -> None:
    for person in (cast.owner, cast.stranger):
        assert person.program.write("A line").status_code == 200


@pytest.fixture
def migration(world: World) -> Iterator[Connection]:
    """A transaction as a migration has it, committed at the end."""
    login = operator_login(world.settings)
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(login.conninfo))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


@pytest.mark.usefixtures("two_blocks")
def test_a_plain_change_of_the_owner_changes_nothing_and_says_nothing(migration: Connection) -> None:
    """Why there are backfills."""
    migration.execute(text("SET LOCAL ROLE keepline_owner"))
    assert migration.execute(text(CHANGE)).rowcount == 0


@pytest.mark.usefixtures("two_blocks")
def test_a_backfill_changes_every_row_and_leaves_the_table_as_it_was(world: World, migration: Connection) -> None:
    assert backfill(migration, "blocks", CHANGE, rows=COUNT) == 2
    migration.commit()
    assert world.rows("SELECT DISTINCT updated_by_client FROM app.blocks") == [("backfilled",)]
    assert world.rows(FORCED) == [(True, True)]


@pytest.mark.usefixtures("two_blocks")
@pytest.mark.parametrize(
    "statement", [f"{CHANGE} WHERE false", f"{CHANGE} WHERE user_id = (SELECT user_id FROM app.blocks LIMIT 1)"]
)
def test_a_backfill_that_changes_too_few_is_undone(world: World, migration: Connection, statement: str) -> None:
    with pytest.raises(SetupError, match=r"changed [01] rows and not 2"):
        backfill(migration, "blocks", statement, rows=COUNT)
    migration.rollback()
    assert world.rows("SELECT DISTINCT updated_by_client FROM app.blocks") == [("demo-console",)]
    assert world.rows(FORCED) == [(True, True)]


def test_migrations_change_rows_by_backfills_alone() -> None:
    """A bare statement on a table of users in a migration would do nothing, silently."""
    for path in sorted((PROJECT_FOLDER / "sql/migrations/versions").glob("*.py")):
        code = "\n".join(line for line in path.read_text("utf-8").splitlines() if " backfill(" not in line)
        assert not re.search(r"\b(UPDATE|DELETE FROM|INSERT INTO|MERGE INTO) app\.", code), path.name


@pytest.mark.usefixtures("two_blocks")
@pytest.mark.parametrize("role", ["keepline_owner", "keepline_maint", "keepline_purge"])
def test_with_row_security_off_a_filtered_read_is_an_error_and_never_short(world: World, role: str) -> None:
    with psycopg.connect(operator_login(world.settings).conninfo) as connection:
        connection.execute(f"SET ROLE {role}".encode())
        connection.execute("SET row_security = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM app.audit_details" if role == "keepline_maint" else COUNT)


def _dump(world: World, role: str, target: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [program("pg_dump"), "--format=custom", f"--file={target}", *options, world.server.conninfo(role)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.usefixtures("two_blocks")
def test_a_dump_by_the_superuser_is_whole_and_restores_policies(world: World, tmp_path: Path) -> None:
    target = tmp_path / "keepline.dump"
    done = _dump(world, "postgres", target)
    assert done.returncode == 0, done.stderr
    protections = (
        "SELECT c.oid::regclass::text, relrowsecurity, relforcerowsecurity, relowner::regrole::text, "
        "coalesce(relacl, acldefault('r', relowner))::text, "
        "(SELECT string_agg(polname || polroles::regrole[]::text || coalesce(pg_get_expr(polqual, polrelid), '') "
        "|| coalesce(pg_get_expr(polwithcheck, polrelid), ''), ' ' ORDER BY polname) "
        "FROM pg_policy p WHERE p.polrelid = c.oid) "
        "FROM pg_class c WHERE relnamespace = 'app'::regnamespace AND relkind = 'r' ORDER BY 1"
    )
    with world.superuser() as connection:
        connection.execute("CREATE DATABASE restored")
        try:
            restored = make_conninfo(world.server.conninfo("postgres"), dbname="restored")
            done = subprocess.run(
                [program("pg_restore"), "--exit-on-error", f"--dbname={restored}", target],
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            with psycopg.connect(restored) as copy:
                assert copy.execute("SELECT count(*) FROM app.blocks").fetchone() == (2,)
                assert copy.execute(protections.encode()).fetchall() == world.rows(protections)
        finally:
            connection.execute("DROP DATABASE restored WITH (FORCE)")


@pytest.mark.usefixtures("two_blocks")
@pytest.mark.parametrize("role", ["keepline_app", "keepline_worker", "keepline_migrate"])
def test_a_dump_by_anybody_else_is_an_error_and_never_short(world: World, tmp_path: Path, role: str) -> None:
    options = ["--role=keepline_owner", "--schema=app"] if role == "keepline_migrate" else ["--schema=app"]
    done = _dump(world, role, tmp_path / "short.dump", *options)
    assert done.returncode != 0
    assert "row-level security" in done.stderr or "permission denied" in done.stderr
