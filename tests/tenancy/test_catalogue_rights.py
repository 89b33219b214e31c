"""What the roles that serve and work may do, and which functions they may call."""

import psycopg
import pytest

from tests.tenancy.app_role import app_connection
from tests.world import World

SERVING = ["keepline_app", "keepline_worker"]
SCHEMAS_OF_KEEPLINE = "('app', 'tenancy', 'public')"

# Reviewed: everything of schema tenancy that each role may call.
ACCESSORS = {"org_id", "user_id", "roles", "team_ids", "led_team_ids", "stored_time"}
TRAIL = {"append_audit", "remove_audit_details", "expire_audit_details", "readiness"}
LOOK_UPS = {
    "find_sign_in_provider", "find_token_providers", "find_client", "resolve_user", "find_session", "keep_sign_in",
    "take_sign_in",
}  # fmt: skip
MAY_CALL = {
    "keepline_app": ACCESSORS | TRAIL | LOOK_UPS,
    "keepline_worker": ACCESSORS | TRAIL,
    "keepline_owner": ACCESSORS,
    "keepline_maint": {"stored_time"},
    "keepline_purge": set(),
    "keepline_migrate": set(),
}


@pytest.mark.parametrize("role", SERVING)
def test_a_serving_role_is_nothing_special(world: World, role: str) -> None:
    assert world.rows(
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication, rolinherit FROM pg_roles "
        "WHERE rolname = %s",
        role,
    ) == [(False,) * 6]
    assert world.rows("SELECT roleid::regrole FROM pg_auth_members WHERE member = %s::regrole", role) == []
    assert world.rows("SELECT objid FROM pg_shdepend WHERE deptype = 'o' AND refobjid = %s::regrole", role) == []


@pytest.mark.parametrize("role", SERVING)
def test_a_serving_role_may_make_nothing(world: World, role: str) -> None:
    for right in ("TEMP", "CREATE"):
        assert world.rows("SELECT has_database_privilege(%s, current_database(), %s)", role, right) == [(False,)]
    may_create = "SELECT nspname FROM pg_namespace WHERE has_schema_privilege(%s, oid, 'CREATE')"
    assert world.rows(may_create, role) == []
    may_speak = "SELECT lanname FROM pg_language WHERE lanpltrusted AND has_language_privilege(%s, oid, 'USAGE')"
    assert world.rows(may_speak, role) == [("sql",)]


@pytest.mark.parametrize("right", ["TRUNCATE", "REFERENCES", "TRIGGER", "MAINTAIN"])
@pytest.mark.parametrize("role", SERVING)
def test_a_serving_role_has_only_the_rights_of_rows(world: World, role: str, right: str) -> None:
    held = world.rows(
        "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        f"WHERE n.nspname IN {SCHEMAS_OF_KEEPLINE} AND c.relkind IN ('r', 'p') AND has_table_privilege(%s, c.oid, %s)",
        role,
        right,
    )
    assert held == []


@pytest.mark.parametrize("role", SERVING)
def test_a_serving_role_names_no_org_and_no_user(world: World, role: str) -> None:
    """Which org and user a row belongs to is the identity's to say: no column right lets the app say it."""
    named = world.rows(
        "SELECT attrelid::regclass::text, attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
        "WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p') "
        "AND attname IN ('org_id', 'user_id', 'id', 'roles', 'team_ids', 'led_team_ids') "
        "AND (has_column_privilege(%(role)s, attrelid, attnum, 'INSERT') "
        "OR has_column_privilege(%(role)s, attrelid, attnum, 'UPDATE'))".replace("%(role)s", "%s"),
        role,
        role,
    )
    assert named == []


@pytest.mark.parametrize("role", SERVING)
def test_a_serving_role_reaches_no_table_of_the_guard(world: World, role: str) -> None:
    reached = world.rows(
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'tenancy'::regnamespace AND c.relkind IN ('r', 'p') "
        "AND (has_any_column_privilege(%s, c.oid, 'SELECT, INSERT, UPDATE') "
        "OR has_table_privilege(%s, c.oid, 'DELETE'))",
        role,
        role,
    )
    assert reached == []


@pytest.mark.parametrize("role", MAY_CALL)
def test_a_role_calls_the_functions_it_needs(world: World, role: str) -> None:
    callable_ = world.rows(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'tenancy'::regnamespace "
        "AND has_function_privilege(%s, oid, 'EXECUTE')",
        role,
    )
    assert {name for (name,) in callable_} == MAY_CALL[role]


def test_every_function_of_keepline_is_the_guards_and_finds_only_the_catalogue(world: World) -> None:
    functions = world.rows(
        "SELECT p.proname, p.proowner::regrole::text, p.prosecdef, p.proconfig FROM pg_proc p "
        "JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname IN ('app', 'tenancy') OR p.prosecdef"
    )
    assert len(functions) >= 17
    for name, owner, definer, settings in functions:
        assert (owner, definer, settings) == ("keepline_guard", True, ["search_path=pg_catalog, pg_temp"]), name


def test_no_function_of_keepline_is_immutable(world: World) -> None:
    """An immutable accessor is computed once for a plan, which the next identity would inherit."""
    assert world.rows(
        "SELECT proname FROM pg_proc WHERE pronamespace IN ('app'::regnamespace, 'tenancy'::regnamespace) "
        "AND provolatile = 'i'"
    ) == []  # fmt: skip
    in_policies = world.rows(
        "SELECT DISTINCT d.refobjid::regproc::text, p.provolatile FROM pg_depend d "
        "JOIN pg_proc p ON p.oid = d.refobjid "
        "WHERE d.classid = 'pg_policy'::regclass AND d.refclassid = 'pg_proc'::regclass"
    )
    assert dict(in_policies) == {"tenancy.org_id": "s", "tenancy.user_id": "s"}


def test_no_view_looks_with_its_owners_rights(world: World) -> None:
    assert world.rows(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN "
        f"{SCHEMAS_OF_KEEPLINE} AND (c.relkind = 'm' OR c.relkind = 'v' "
        "AND NOT coalesce(c.reloptions, '{}') && '{security_invoker=true,security_invoker=on}')"
    ) == []  # fmt: skip


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TEMP TABLE signing_keys (key_id text)",
        "CREATE TABLE app.mine (a int)",
        "CREATE TABLE public.mine (a int)",
        "CREATE SCHEMA mine",
        "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "DO $$ BEGIN NULL; END $$",
        "SET ROLE keepline_guard",
        "TRUNCATE app.blocks",
        "ALTER TABLE app.blocks NO FORCE ROW LEVEL SECURITY",
        "CREATE POLICY mine ON app.blocks USING (true)",
        "GRANT SELECT ON app.providers TO keepline_app",
        "ALTER FUNCTION tenancy.org_id() RESET search_path",
        "SELECT lo_creat(-1)",
        "SELECT lo_from_bytea(0, 'x')",
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "SELECT query_to_xml('SELECT 1', true, true, '')",
        "SELECT * FROM pg_stat_activity",
        "SELECT pg_read_file('postgresql.conf')",
        "COPY app.blocks TO PROGRAM 'cat'",
        "SELECT tenancy.open_ticket('', '')",
        "SELECT tenancy.policy_fingerprint()",
    ],
)
def test_the_app_is_denied(world: World, statement: str) -> None:
    with app_connection(world) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement.encode())
