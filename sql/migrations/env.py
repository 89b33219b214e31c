"""Runs the migrations on the connection that `tenancy/migrate.py` hands over, one transaction each."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    version_table="alembic_version",
    version_table_schema="app",
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
