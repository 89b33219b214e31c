"""The matrix notices every policy of the app or the worker that is opened to everybody."""

import psycopg
import pytest
from psycopg import sql

from tenancy.database import operator_login
from tenancy.keys import signing_keys
from tenancy.migrate import migrate
from tenancy.settings import ensure_keys
from tests.tenancy.matrix_cells import Matrix
from tests.tenancy.matrix_rows import TARGETS
from tests.tenancy.matrix_table import expected
from tests.world import World

USING, CHECK = "USING", "WITH CHECK"
# Reviewed. The columns that the app may set on its users row hold neither org nor id, so that no value fails the check.
UNNOTICED = {("own_switch", CHECK)}


def _opened_clauses(world: World) -> list[tuple[str, str, str]]:
    policies = world.rows(
        "SELECT tablename, policyname, qual IS NOT NULL, with_check IS NOT NULL FROM pg_policies "
        "WHERE schemaname = 'app' AND roles && '{keepline_app,keepline_worker}'"
    )
    return [
        (table, policy, clause)
        for table, policy, has_using, has_check in policies
        for clause, there in ((USING, has_using), (CHECK, has_check))
        if there
    ]


def _open(connection: psycopg.Connection[tuple[object, ...]], table: str, policy: str, clause: str) -> None:
    connection.execute(
        sql.SQL("ALTER POLICY {} ON {} {} (true)").format(
            sql.Identifier(policy), sql.Identifier("app", table), sql.SQL(clause)
        )
    )


def _met(matrix: Matrix, table: str) -> object:
    cells: dict[str, object] = {verb: matrix.row(table, TARGETS[table], verb) for verb in expected(table)}
    sweeps = (f"UPDATE app.{table} SET {TARGETS[table].update}", f"DELETE FROM app.{table}")
    return cells, [matrix.rows_changed("teammate", sweep) for sweep in sweeps]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_opened_policy_changes_what_somebody_meets(world: World, matrix: Matrix) -> None:
    clauses = _opened_clauses(world)
    assert len(clauses) >= 13
    unnoticed = set()
    _, identity_key = ensure_keys(world.settings)
    try:
        for table, policy, clause in clauses:
            as_it_should_be = _met(matrix, table)
            with world.superuser() as connection:
                _open(connection, table, policy, clause)
            if _met(matrix, table) == as_it_should_be:
                unnoticed.add((policy, clause))
            migrate(operator_login(world.settings), signing_keys(identity_key))
    finally:
        migrate(operator_login(world.settings), signing_keys(identity_key))
    assert unnoticed == UNNOTICED
