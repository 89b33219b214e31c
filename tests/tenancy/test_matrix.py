"""Every (table, verb, actor) is met as `matrix_table.py` says, and a table that it does not name fails."""

import pytest

from tests.tenancy.matrix_cells import DENIED, Matrix
from tests.tenancy.matrix_rows import TARGETS
from tests.tenancy.matrix_table import ACTORS, VERBS, expected
from tests.world import World

PEOPLE = 7  # of the cast, each with one row of everything private


def test_the_matrix_knows_every_table(world: World, matrix: Matrix) -> None:
    tables = dict(
        world.rows(
            "SELECT c.relname, EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'org_id') "
            "FROM pg_class c WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')"
        )
    )
    assert set(tables) == set(TARGETS)
    assert ACTORS.split() == list(matrix.actors)
    for table, has_org in tables.items():
        assert set(expected(table)) == {verb for verb in VERBS if has_org or verb != "name"}, table
        assert all(len(cells) == len(matrix.actors) for cells in expected(table).values()), table


@pytest.mark.parametrize("table", TARGETS)
def test_everybody_meets_what_the_matrix_says(matrix: Matrix, table: str) -> None:
    met = {verb: matrix.row(table, TARGETS[table], verb) for verb in expected(table)}
    assert met == expected(table)


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        ("blocks", "UPDATE app.blocks SET text = 'x'"),
        ("blocks", "DELETE FROM app.blocks"),
        ("block_lines", "UPDATE app.block_lines SET source = 'import'"),
        ("block_lines", "DELETE FROM app.block_lines"),
        ("users", "UPDATE app.users SET memory_on = false"),
        ("web_sessions", "DELETE FROM app.web_sessions"),
    ],
)
def test_a_statement_without_a_condition_changes_own_rows_alone(
    world: World, matrix: Matrix, table: str, statement: str
) -> None:
    """It reads no column, so that the policy for reading does not stand in for the one for writing."""
    assert world.rows(f"SELECT count(*) >= {PEOPLE} FROM app.{table}") == [(True,)]
    for actor in matrix.actors:
        changed = matrix.rows_changed(actor, statement)
        if actor.startswith("worker") and table in ("users", "web_sessions"):
            assert changed == DENIED, actor
        else:
            assert changed == (0 if "nobody" in actor else 1), actor
