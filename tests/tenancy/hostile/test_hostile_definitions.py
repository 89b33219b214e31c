"""Nobody who serves or works defines, grants, shadows or drops anything, though each statement is right."""

import pytest

from tests.tenancy.hostile.attackers import LOGINS, SECRET, Scene

DENIED = "42501"
# Each works for a superuser, so that what refuses it is that the login may not.
DEFINITIONS = (
    "CREATE TEMP TABLE signing_keys (key_id text)",
    "CREATE TEMP VIEW blocks AS SELECT 'x' AS text",
    "SELECT 1 AS a INTO TEMP mine",
    "CREATE TABLE app.mine (a int)",
    "CREATE TABLE public.mine AS SELECT 1 AS a",
    "CREATE UNLOGGED TABLE tenancy.mine (a int)",
    "CREATE SCHEMA mine",
    "CREATE SCHEMA mine CREATE TABLE mine.a (b int)",
    "CREATE SEQUENCE app.mine",
    "CREATE TYPE public.uuid AS ENUM ('a')",
    "CREATE DOMAIN public.mine AS text",
    "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE FUNCTION pg_temp.org_id() RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'",
    "CREATE FUNCTION tenancy.org_id(int) RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'",
    "CREATE FUNCTION public.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$BEGIN RETURN true; END$$",
    "CREATE PROCEDURE public.mine() LANGUAGE sql AS 'SELECT 1'",
    "CREATE AGGREGATE public.mine (int) (sfunc = int4pl, stype = int)",
    "CREATE OPERATOR public.= (leftarg = uuid, rightarg = uuid, function = uuid_ne)",
    "CREATE OPERATOR public.<<< (leftarg = text, rightarg = text, function = texteq, restrict = eqsel)",
    "CREATE CAST (uuid AS boolean) WITH INOUT",
    "CREATE COLLATION public.mine FROM \"C\"",
    "CREATE CONVERSION public.mine FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8",
    "CREATE TEXT SEARCH DICTIONARY public.mine (TEMPLATE = simple)",
    "CREATE STATISTICS app.mine ON org_id, user_id FROM app.blocks",
    "CREATE INDEX mine ON app.blocks (text)",
    "CREATE POLICY mine ON app.blocks USING (true)",
    "ALTER POLICY own_block ON app.blocks USING (true)",
    "DROP POLICY own_block ON app.blocks",
    "ALTER TABLE app.blocks NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE app.blocks DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE app.blocks OWNER TO keepline_app",
    "ALTER TABLE app.blocks ALTER COLUMN text SET STATISTICS 100",
    "ALTER TABLE app.blocks ALTER COLUMN user_id SET DEFAULT NULL",
    "ALTER TABLE app.blocks DROP CONSTRAINT blocks_pkey CASCADE",
    "ALTER TABLE app.blocks RENAME TO stolen",
    "ALTER TABLE app.blocks SET SCHEMA public",
    "ALTER FUNCTION tenancy.org_id() RESET search_path",
    "ALTER FUNCTION tenancy.org_id() SET keepline.identity = ''",
    "ALTER FUNCTION tenancy.org_id() IMMUTABLE LEAKPROOF",
    "DROP FUNCTION tenancy.org_id() CASCADE",
    "CREATE RULE mine AS ON DELETE TO app.blocks DO INSTEAD NOTHING",
    "CREATE TRIGGER mine AFTER UPDATE ON app.blocks EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "CREATE EVENT TRIGGER mine ON ddl_command_end EXECUTE FUNCTION tenancy.refuse_definitions()",
    "DROP EVENT TRIGGER keepline_refuse_definitions",
    "ALTER EVENT TRIGGER keepline_refuse_definitions DISABLE",
    "CREATE EXTENSION vector SCHEMA app",
    "CREATE LANGUAGE mine HANDLER plpgsql_call_handler",
    "CREATE FOREIGN DATA WRAPPER mine",
    "CREATE PUBLICATION mine FOR TABLE app.blocks",
    "CREATE ROLE mine",
    "CREATE DATABASE mine",
    "GRANT keepline_owner TO keepline_app",
    "GRANT SELECT ON tenancy.signing_keys TO keepline_app",
    "GRANT SELECT ON app.blocks TO PUBLIC",
    "GRANT USAGE ON LANGUAGE plpgsql TO keepline_app",
    "GRANT EXECUTE ON FUNCTION pg_terminate_backend(int, bigint) TO keepline_app",
    "GRANT SET ON PARAMETER log_statement TO keepline_app",
    "REVOKE ALL ON app.blocks FROM keepline_worker",
    "ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO PUBLIC",
    "ALTER DATABASE keepline OWNER TO keepline_app",
    "ALTER SYSTEM SET log_statement = 'all'",
    "COMMENT ON TABLE app.blocks IS 'mine'",
    "SECURITY LABEL ON TABLE app.blocks IS 'mine'",
    "REASSIGN OWNED BY keepline_owner TO keepline_app",
    "DROP OWNED BY keepline_app",
    "DROP OWNED BY keepline_worker",
    "DROP OWNED BY keepline_owner CASCADE",
    "TRUNCATE app.blocks CASCADE",
    "DROP TABLE app.blocks CASCADE",
    "REFRESH MATERIALIZED VIEW app.blocks",
    "CLUSTER app.blocks USING blocks_pkey",
    "REINDEX TABLE app.blocks",
    "DO $$ BEGIN NULL; END $$",
    "DO LANGUAGE sql 'SELECT 1'",
)  # fmt: skip
# What says no before it asks who is asking: there is nothing of the kind to be had.
NOT_THERE = {
    "DO LANGUAGE sql 'SELECT 1'", "CREATE DATABASE mine", "SECURITY LABEL ON TABLE app.blocks IS 'mine'",
    "CREATE EXTENSION vector SCHEMA app", "ALTER SYSTEM SET log_statement = 'all'",
    "REFRESH MATERIALIZED VIEW app.blocks",
}  # fmt: skip
PATHS = ("pg_temp", "pg_temp, pg_catalog", "app, tenancy, pg_catalog", "public, pg_catalog", "tenancy, app, public",
         "''", '"$user", app', "pg_toast, app")  # fmt: skip
_CATALOGUE = """SELECT
  (SELECT md5(string_agg(c::text, '' ORDER BY c.oid)) FROM pg_class c WHERE c.relnamespace IN
    ('app'::regnamespace, 'tenancy'::regnamespace, 'public'::regnamespace)),
  (SELECT md5(string_agg(p::text, '' ORDER BY p.oid)) FROM pg_policy p),
  (SELECT md5(string_agg(f::text, '' ORDER BY f.oid)) FROM pg_proc f),
  (SELECT md5(string_agg(d::text, '' ORDER BY d.oid)) FROM pg_default_acl d),
  (SELECT md5(string_agg(m::text, '' ORDER BY m.oid)) FROM pg_auth_members m),
  (SELECT count(*) FROM pg_roles), (SELECT count(*) FROM pg_namespace)"""


@pytest.mark.parametrize("statement", DEFINITIONS)
def test_nothing_is_defined(scene: Scene, statement: str) -> None:
    catalogue = scene.world.rows(_CATALOGUE)
    for login in LOGINS:
        for name in ("stranger", "nobody"):
            refusal = scene.hear(login, name, statement).refusal
            assert refusal == DENIED or (statement in NOT_THERE and refusal is not None), (login, refusal)
    assert scene.world.rows(_CATALOGUE) == catalogue


@pytest.mark.parametrize("path", PATHS)
def test_a_search_path_changes_nothing_that_a_policy_means(scene: Scene, path: str) -> None:
    statements = (f"SET LOCAL search_path = {path}", "SELECT text FROM app.blocks WHERE text <> ''")
    for login in LOGINS:
        assert SECRET in scene.hear(login, "owner", *statements).said
        assert scene.hear(login, "stranger", *statements).rows == [("A line of my own",)]
        assert scene.hear(login, "nobody", *statements).rows == []


@pytest.mark.parametrize("statement", [right for right in DEFINITIONS if right not in NOT_THERE])
def test_a_superuser_may_what_the_logins_may_not(scene: Scene, statement: str) -> None:
    """The control of the refusals: it is who asks that is refused, not the statement."""
    with scene.world.superuser() as connection, connection.transaction(force_rollback=True):
        connection.execute("SET LOCAL client_min_messages = error")
        connection.execute(statement.encode())
