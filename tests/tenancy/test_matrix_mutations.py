"""The matrix notices every policy of the app or the worker that is dropped, or opened to everybody."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

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

DROPPED, USING, CHECK = "DROP", "USING", "WITH CHECK"
# A policy, with whether one of the columns it looks at may be changed by a login it is for.
_POLICIES = """SELECT p.tablename, p.policyname, p.cmd, p.qual IS NOT NULL, p.with_check IS NOT NULL, EXISTS (
      SELECT FROM pg_policy y JOIN pg_depend d ON d.classid = 'pg_policy'::regclass AND d.objid = y.oid,
        unnest(p.roles) AS r (name)
      WHERE y.polname = p.policyname AND y.polrelid = ('app.' || quote_ident(p.tablename))::regclass
        AND d.refclassid = 'pg_class'::regclass AND d.refobjid = y.polrelid AND d.refobjsubid > 0
        AND has_column_privilege(r.name, y.polrelid, d.refobjsubid::smallint, 'UPDATE'))
    FROM pg_policies p WHERE p.schemaname = 'app' AND p.roles && '{keepline_app,keepline_worker}' ORDER BY 1, 2"""


@dataclass(frozen=True)
class Mutation:
    """One policy, and what is done to it."""

    table: str
    policy: str
    act: str

    def statement(self) -> sql.Composed:
        policy, table = sql.Identifier(self.policy), sql.Identifier("app", self.table)
        if self.act == DROPPED:
            return sql.SQL("DROP POLICY {} ON {}").format(policy, table)
        return sql.SQL("ALTER POLICY {} ON {} {} (true)").format(policy, table, sql.SQL(self.act))


def _mutations(world: World) -> tuple[set[Mutation], set[Mutation]]:
    """Every mutation of every policy; and those that nobody can notice.

    A check of changed rows fails only for a value that somebody may set: where no column that it looks at may be
    changed, it stands in reserve.
    """
    every, in_reserve = set(), set()
    for table, policy, command, has_using, has_check, changeable in world.rows(_POLICIES):
        acts = [DROPPED, *([USING] if has_using else []), *([CHECK] if has_check else [])]
        every |= {Mutation(table, policy, act) for act in acts}
        if command == "UPDATE" and has_check and not changeable:
            in_reserve.add(Mutation(table, policy, CHECK))
    return every, in_reserve


@contextmanager
def _mutated(world: World, mutation: Mutation) -> Iterator[None]:
    _, identity_key = ensure_keys(world.settings)
    try:
        with world.superuser() as connection:
            connection.execute(mutation.statement())
        yield
    finally:
        migrate(operator_login(world.settings), signing_keys(identity_key))


def _met(matrix: Matrix, table: str) -> object:
    cells: dict[str, object] = {verb: matrix.row(table, TARGETS[table], verb) for verb in expected(table)}
    sweeps = (f"UPDATE app.{table} SET {TARGETS[table].update}", f"DELETE FROM app.{table}")
    return cells, [matrix.rows_changed("teammate", sweep) for sweep in sweeps]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_dropped_or_opened_policy_changes_what_somebody_meets(world: World, matrix: Matrix) -> None:
    every, in_reserve = _mutations(world)
    tables = {mutation.table for mutation in every}
    assert tables == {
        table
        for (table,) in world.rows(
            "SELECT relname FROM pg_class c WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p') "
            "AND (has_any_column_privilege('keepline_app', oid, 'SELECT') "
            "OR has_any_column_privilege('keepline_worker', oid, 'SELECT'))"
        )
    }
    as_it_should_be = {table: _met(matrix, table) for table in tables}
    unnoticed = set()
    for mutation in sorted(every, key=repr):
        with _mutated(world, mutation):
            if _met(matrix, mutation.table) == as_it_should_be[mutation.table]:
                unnoticed.add(mutation)
    assert unnoticed == in_reserve
    assert {table: _met(matrix, table) for table in tables} == as_it_should_be
