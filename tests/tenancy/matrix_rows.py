"""How each verb of the matrix is tried on each table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """How each verb is tried on one table; `key` finds the owner's row, with :org and :user filled in.

    `insert` takes org and user from the identity; `name` is the same with the owner's named in it.
    """

    key: str
    columns: str
    insert: str
    update: str
    owned_by: tuple[str, ...] = ("org_id", "user_id")
    before_insert: str = "SELECT 1"

    def statement(self, table: str, verb: str) -> str:
        if verb == "read":
            return f"SELECT {self.columns} FROM app.{table} WHERE {self.key}"
        if verb == "update":
            return f"UPDATE app.{table} SET {self.update} WHERE {self.key}"
        if verb == "delete":
            return f"DELETE FROM app.{table} WHERE {self.key}"
        columns, _, values = self.insert.partition(" VALUES ")
        if verb == "name":
            named = ", ".join({"org_id": ":org"}.get(name, ":user") for name in self.owned_by)
            columns, values = f"({', '.join(self.owned_by)}, {columns[1:]}", f"({named}, {values[1:]}"
        return f"INSERT INTO app.{table} {columns} VALUES {values}"


_OWN = "org_id = :org AND user_id = :user"
_DIGEST = "sha256(gen_random_uuid()::text::bytea)"
TARGETS = {
    "alembic_version": Target(
        "true", "*", "(version_num) VALUES ('x')", "version_num = 'x'", owned_by=()
    ),
    "audit_details": Target(
        _OWN, "*",
        f"(event_id, place, change, text, digest, salt) VALUES (uuidv7(), 1, 'added', 'x', {_DIGEST}, {_DIGEST})",
        "text = 'x'",
    ),
    "audit_events": Target(
        _OWN + " AND action = 'block.rewrite'", "*",
        "(at, writer, action, target_kind, outcome) VALUES (now(), 'user', 'a.b', 'block', 'done')",
        "outcome = 'refused'",
    ),
    "block_lines": Target(
        _OWN, "*",
        f"(digest, occurrence, source, provenance, created_at) VALUES ({_DIGEST}, 1, 'import', 'stated', now())",
        "source = 'import'",
    ),
    "blocks": Target(
        _OWN, "*",
        "(text, updated_at, updated_by_writer, updated_by_client) VALUES ('x', now(), 'user', 'x')",
        "text = 'x'",
        before_insert="DELETE FROM app.blocks WHERE org_id = tenancy.org_id() AND user_id = tenancy.user_id()",
    ),
    "clients": Target(
        "org_id = :org AND client_id = 'demo-assistant'", "*",
        "(client_id, name, kind, scopes, created_at) VALUES ('x', 'x', 'user', '{}', now())",
        "name = 'x'",
        owned_by=("org_id",),
    ),
    "org_policies": Target(
        "org_id = :org", "*",
        "(model_writes, updated_at) VALUES ('direct', now()) ON CONFLICT (org_id) DO UPDATE SET extraction = false",
        "model_writes = 'confirm'",
        owned_by=("org_id",),
    ),
    "orgs": Target(
        "org_id = :org", "*",
        "(slug, name, created_at) VALUES ('x', 'x', now())",
        "name = 'x'",
        owned_by=("org_id",),
    ),
    "providers": Target(
        "org_id = :org", "org_id, id, issuer, client_id",
        "(issuer, audience, client_id, created_at) VALUES ('x', 'x', 'x', now())",
        "client_id = 'x'",
        owned_by=("org_id",),
    ),
    "token_audiences": Target(
        "true", "*",
        "(issuer, audience, claim_name) VALUES ('x', 'x', '')", "claim_name = 'x'",
        owned_by=(),
    ),
    "users": Target(
        "org_id = :org AND id = :user", "*",
        "(provider_id, issuer, subject, created_at) VALUES (uuidv7(), 'x', 'x', now())",
        "memory_on = false",
        owned_by=("org_id", "id"),
    ),
    "web_sessions": Target(
        _OWN, "id, created_at, last_seen_at", f"(digest) VALUES ({_DIGEST})", "last_seen_at = now()"
    ),
}  # fmt: skip
