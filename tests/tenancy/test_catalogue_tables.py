"""The code and the database agree on tables and revision; what else holds of tables, the lints of `sql/lints` say."""

from alembic.script import ScriptDirectory
from sqlalchemy.dialects import postgresql

import app  # noqa: F401 - its imports put every table into the metadata
from tenancy.migrate import SQL_FOLDER, expected_revision
from tenancy.tables import metadata
from tests.world import World

_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call] # SQLAlchemy leaves it untyped


def test_the_columns_that_the_code_names_are_those_of_the_database(world: World) -> None:
    assert {"app.users", "app.blocks", "app.audit_events"} <= set(metadata.tables)
    for table in metadata.sorted_tables:
        stored = {
            name: (kind, required)
            for name, kind, required in world.rows(
                "SELECT attname, upper(format_type(atttypid, atttypmod)), attnotnull FROM pg_attribute "
                "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
                table.fullname,
            )
        }
        named = {column.name: (column.type.compile(dialect=_DIALECT), not column.nullable) for column in table.columns}
        assert named.items() <= stored.items(), table.fullname
        key = world.rows(
            "SELECT a.attname FROM pg_index x JOIN pg_attribute a ON a.attrelid = x.indrelid "
            "AND a.attnum = ANY (x.indkey) WHERE x.indisprimary AND x.indrelid = %s::regclass",
            table.fullname,
        )
        assert {column.name for column in table.primary_key} == {name for (name,) in key}, table.fullname


def test_the_migrations_have_one_head_and_it_is_applied(world: World) -> None:
    assert ScriptDirectory(str(SQL_FOLDER / "migrations")).get_heads() == [expected_revision()]
    assert world.rows("SELECT version_num FROM app.alembic_version") == [(expected_revision(),)]
