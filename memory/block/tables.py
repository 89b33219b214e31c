"""Columns of the block and of what is known about its lines."""

from sqlalchemy import Column, DateTime, FetchedValue, Integer, LargeBinary, Table, Text, Uuid

from tenancy.tables import metadata

blocks = Table(
    "blocks",
    metadata,
    Column("org_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("user_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("text", Text, nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
    Column("updated_by_writer", Text, nullable=False),
    Column("updated_by_client", Text, nullable=False),
)

block_lines = Table(
    "block_lines",
    metadata,
    Column("org_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("user_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("digest", LargeBinary, nullable=False),
    Column("occurrence", Integer, nullable=False),
    Column("category", Text),
    Column("source", Text, nullable=False),
    Column("provenance", Text, nullable=False),
    Column("confirmed_by", Text),
    Column("conversation_id", Text),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("last_used_at", DateTime(timezone=True)),
)
