"""Columns of the tables that say who is asking; the migrations are what makes them."""

from sqlalchemy import Boolean, Column, DateTime, FetchedValue, LargeBinary, MetaData, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import ARRAY

metadata = MetaData(schema="app")

users = Table(
    "users",
    metadata,
    Column("org_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("name", Text),
    Column("email", Text),
    Column("memory_on", Boolean, nullable=False),
    Column("line_key", LargeBinary, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

clients = Table(
    "clients",
    metadata,
    Column("org_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("client_id", Text, primary_key=True, server_default=FetchedValue()),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
)

web_sessions = Table(
    "web_sessions",
    metadata,
    Column("org_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("user_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("digest", LargeBinary, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("last_seen_at", DateTime(timezone=True), nullable=False),
)
