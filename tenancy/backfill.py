"""Backfills: changing rows that are there, from within a migration.

Under FORCE ROW LEVEL SECURITY the tables' owner sees no row, so that its UPDATE changes nothing and says nothing. A
backfill lifts FORCE from its one table for its own transaction, and counts what it changed.
"""

from sqlalchemy import Connection, text

from tenancy.errors import SetupError


def backfill(connection: Connection, table: str, statement: str, *, rows: str) -> int:
    """Run a statement of the owner on a table of schema app and return how many rows it changed.

    `rows` counts what it must change, in the same transaction; both see every row.

    Raises:
        SetupError: it changed another number of rows; the migration is undone.

    """
    connection.execute(text("SET LOCAL ROLE keepline_owner"))
    # ALTER TABLE holds the table for itself until the transaction ends, so nobody meets it without FORCE.
    connection.execute(text(f"ALTER TABLE app.{table} NO FORCE ROW LEVEL SECURITY"))
    expected = int(connection.execute(text(rows)).scalar_one())
    changed = connection.execute(text(statement)).rowcount
    connection.execute(text(f"ALTER TABLE app.{table} FORCE ROW LEVEL SECURITY"))
    if changed != expected:
        raise SetupError(f"A backfill of {table} changed {changed} rows and not {expected}; nothing was changed.")
    return changed
