"""Columns of the tables that say who is asking; the migrations are what makes them."""

from sqlalchemy import Boolean, Column, DateTime, FetchedValue, Integer, LargeBinary, MetaData, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

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
    Column("id", Uuid, nullable=False, server_default=FetchedValue()),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("last_used_at", DateTime(timezone=True)),
    Column("revoked_at", DateTime(timezone=True)),
    Column("replaced_by", Text),
)

providers = Table(
    "providers",
    metadata,
    Column("org_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("issuer", Text, nullable=False),
    Column("audience", Text, nullable=False),
    Column("claim_name", Text, nullable=False),
    Column("claim_value", Text, nullable=False),
    Column("client_id", Text, nullable=False),
    Column("client_secret", LargeBinary),
    Column("secret_name", Text),
    Column("has_secret", Boolean, nullable=False, server_default=FetchedValue()),
    Column("scopes", Text, nullable=False),
    Column("claim_rules", JSONB, nullable=False),
    Column("for_sign_in", Boolean, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("disconnected_at", DateTime(timezone=True)),
)

org_policies = Table(
    "org_policies",
    metadata,
    Column("org_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("memory_default", Boolean, nullable=False),
    Column("model_writes", Text, nullable=False),
    Column("allowed_domains", ARRAY(Text), nullable=False),
    Column("extraction", Boolean, nullable=False),
    Column("retention_days", Integer, nullable=False),
    Column("llm_consent", Boolean, nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
)

web_sessions = Table(
    "web_sessions",
    metadata,
    Column("org_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("user_id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("id", Uuid, primary_key=True, server_default=FetchedValue()),
    Column("digest", LargeBinary, nullable=False),
    Column("provider_id", Uuid),
    Column("provider_session", Text),
    Column("refresh_token", LargeBinary),
    Column("claims", LargeBinary),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("last_seen_at", DateTime(timezone=True), nullable=False),
)
