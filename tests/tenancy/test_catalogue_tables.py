"""What the catalogue must say of every table, also of one that is added tomorrow."""

from alembic.script import ScriptDirectory
from sqlalchemy.dialects import postgresql

import app  # noqa: F401 - its imports put every table into the metadata
from tenancy.migrate import SQL_FOLDER, expected_revision
from tenancy.tables import metadata
from tests.world import World

# Held by alembic; nobody but the owner reaches it, and no policy stands on it.
WITHOUT_POLICIES = {"alembic_version"}

# Reviewed: what spans orgs, and why org_id does not lead it.
SPANS_ORGS = {
    "alembic_version_pkc",
    "orgs_slug_key",  # a short name is how a sign-in names the org
    "token_audiences_pkey",  # an issuer and audience is told apart in one way, over all orgs
    "token_audiences_issuer_audience_claim_name_key",
    "providers_belong_to_one_org",  # a token can't belong to two orgs
    "web_sessions_digest_key",  # a cookie is looked up before its org is known
    "audit_details_by_expiry",  # retention runs over all orgs
}
FOREIGN_KEYS_THAT_SPAN_ORGS = {"providers_issuer_audience_claim_name_fkey"}

# Columns that hold what users wrote, what is derived from it, or who they are: the planner keeps no samples of them.
CONTENT = {
    "audit_details.digest", "audit_details.salt", "audit_details.text", "block_lines.conversation_id",
    "block_lines.digest", "blocks.text", "users.email", "users.line_key", "users.name", "users.subject",
}  # fmt: skip
# Reviewed: text and bytes in tables of users that are no content.
NO_CONTENT = {
    "audit_details.change",
    "audit_events.action", "audit_events.client", "audit_events.commitments", "audit_events.counts",
    "audit_events.outcome", "audit_events.request_id", "audit_events.target_id", "audit_events.target_kind",
    "audit_events.writer",
    "block_lines.category", "block_lines.confirmed_by", "block_lines.provenance",
    "block_lines.source",
    "blocks.updated_by_client", "blocks.updated_by_writer",
    "users.issuer",
    "web_sessions.digest",
}  # fmt: skip

_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call] # SQLAlchemy leaves it untyped
_KEYS = """SELECT c.relname, i.relname, array_agg(a.attname::text ORDER BY k.place)
    FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid,
      unnest(x.indkey) WITH ORDINALITY AS k (number, place)
    JOIN pg_attribute a ON a.attnum = k.number
    WHERE a.attrelid = x.indrelid AND c.relnamespace = 'app'::regnamespace GROUP BY c.relname, i.relname"""
_FOREIGN_KEYS = """SELECT k.conname, array_agg(a.attname::text ORDER BY n.place),
      array_agg(f.attname::text ORDER BY n.place)
    FROM pg_constraint k, unnest(k.conkey, k.confkey) WITH ORDINALITY AS n (own, foreign_, place)
    JOIN pg_attribute a ON a.attnum = n.own JOIN pg_attribute f ON f.attnum = n.foreign_
    WHERE k.contype = 'f' AND k.connamespace = 'app'::regnamespace
      AND a.attrelid = k.conrelid AND f.attrelid = k.confrelid GROUP BY k.conname"""
_OF_USERS = """SELECT a.attrelid FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE a.attname = 'user_id' AND c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p')"""


def test_every_table_has_row_level_security_enabled_and_forced(world: World) -> None:
    tables = world.rows(
        """SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity,
          (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid)
        FROM pg_class c WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p')"""
    )
    assert len(tables) > 10
    bare = {name for name, secured, policies in tables if not secured or not policies}
    assert bare == WITHOUT_POLICIES


def test_nobody_but_the_owner_reaches_a_table_without_policies(world: World) -> None:
    for table in WITHOUT_POLICIES:
        grants = world.rows("SELECT relacl::text FROM pg_class WHERE oid = %s::regclass", f"app.{table}")
        assert grants in ([(None,)], [("{keepline_owner=arwdDxtm/keepline_owner}",)])


def test_policies_name_the_roles_that_they_are_for(world: World) -> None:
    policies = world.rows("SELECT tablename, policyname, roles::text[] FROM pg_policies WHERE schemaname = 'app'")
    named = {role for *_, roles in policies for role in roles}
    assert named == {"keepline_app", "keepline_worker", "keepline_guard", "keepline_maint"}


def test_no_policy_lets_the_app_or_the_worker_see_everything(world: World) -> None:
    lax = world.rows(
        "SELECT tablename, policyname FROM pg_policies WHERE schemaname = 'app' "
        "AND roles && '{keepline_app,keepline_worker}' AND (coalesce(qual, '') !~ 'tenancy.org_id' AND cmd <> 'INSERT' "
        "OR coalesce(with_check, 'tenancy.org_id()') !~ 'tenancy.org_id')"
    )
    assert lax == []


def test_org_id_leads_every_key_and_index(world: World) -> None:
    keys = world.rows(_KEYS)
    assert {name for _, name, columns in keys if columns[0] != "org_id"} == SPANS_ORGS


def test_user_id_follows_org_id_in_the_primary_keys_of_what_is_private(world: World) -> None:
    """The trail's entries may concern nobody; their keys for foreign keys carry the user all the same."""
    private = world.rows(
        f"SELECT c.relname, i.relname FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid "
        f"JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indisprimary AND x.indrelid IN ({_OF_USERS})"
    )
    columns = {name: found for _, name, found in world.rows(_KEYS)}
    wrong = {table for table, name in private if columns[name][:2] != ["org_id", "user_id"]}
    assert wrong == {"audit_events"}


def test_foreign_keys_carry_the_org_and_between_private_tables_the_user(world: World) -> None:
    keys = world.rows(_FOREIGN_KEYS)
    loose = {name for name, own, foreign in keys if (own[0], foreign[0]) != ("org_id", "org_id")}
    assert loose == FOREIGN_KEYS_THAT_SPAN_ORGS
    private = {
        name
        for (name,) in world.rows(
            f"SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid IN ({_OF_USERS}) "
            f"AND (confrelid IN ({_OF_USERS}) OR confrelid = 'app.users'::regclass)"
        )
    }
    assert private
    for name, own, foreign in keys:
        if name in private:
            assert own[1] == "user_id", name
            assert foreign[1] in ("user_id", "id"), name


def test_rows_of_users_belong_to_their_user_by_default(world: World) -> None:
    """A private table that the app writes takes org and user from the identity, and both are required."""
    defaults = world.rows(
        f"""SELECT c.relname, a.attname, a.attnotnull, pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid IN ({_OF_USERS}) AND a.attname IN ('org_id', 'user_id')
          AND has_any_column_privilege('keepline_app', a.attrelid, 'INSERT')"""
    )
    assert len(defaults) >= 6
    for table, column, required, default in defaults:
        assert (required, default) == (True, f"tenancy.{column}()"), table


def test_the_planner_samples_no_content(world: World) -> None:
    columns = world.rows(
        f"""SELECT c.relname || '.' || a.attname, a.attstattarget FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE (a.attrelid IN ({_OF_USERS}) OR a.attrelid = 'app.users'::regclass)
          AND a.attnum > 0 AND NOT a.attisdropped
          AND a.atttypid IN ('text'::regtype, 'bytea'::regtype, 'bytea[]'::regtype, 'jsonb'::regtype,
            'text[]'::regtype)"""
    )
    assert {name for name, _ in columns} == CONTENT | NO_CONTENT
    assert {name for name, target in columns if target == 0} == CONTENT


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
