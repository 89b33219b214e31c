"""Columns of the trail: entries that stay, and their details that can be removed."""

from sqlalchemy import Column, DateTime, FetchedValue, Integer, LargeBinary, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from tenancy.tables import metadata

audit_events = Table(
    "audit_events",
    metadata,
    Column("org_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("user_id", Uuid),
    Column("actor_id", Uuid),
    Column("client", Text),
    Column("writer", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("target_kind", Text, nullable=False),
    Column("target_id", Text),
    Column("outcome", Text, nullable=False),
    Column("counts", JSONB, nullable=False),
    Column("request_id", Text),
    Column("commitments", ARRAY(LargeBinary), nullable=False),
)

audit_details = Table(
    "audit_details",
    metadata,
    Column("org_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("user_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("event_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("place", Integer, primary_key=True, server_default=FetchedValue()),
    Column("change", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("expires_at", DateTime(timezone=True)),
)
