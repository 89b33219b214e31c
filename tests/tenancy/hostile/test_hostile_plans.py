"""Plans and traces show neither keys nor hidden rows; EXPLAIN ANALYZE shows how many there are."""

import re
from collections.abc import Iterator

import pytest

from tenancy.keys import signing_keys
from tenancy.settings import ensure_keys
from tests.tenancy.app_role import bind
from tests.tenancy.hostile.attackers import LOGINS, OTHERS, SECRET, Scene, run
from tests.world import World

TRACES = ("debug_print_parse", "debug_print_rewritten", "debug_print_plan", "debug_pretty_print")
USES = (
    "SELECT text FROM app.blocks",
    "SELECT tenancy.org_id(), tenancy.user_id(), tenancy.roles(), tenancy.team_ids(), tenancy.led_team_ids()",
    "UPDATE app.blocks SET text = text",
    "SELECT tenancy.remove_audit_details(NULL, NULL, NULL)",
    "SELECT tenancy.open_ticket('', '')",
)
EXPLAINED = (
    "EXPLAIN SELECT text FROM app.blocks",
    "EXPLAIN (VERBOSE, SETTINGS, GENERIC_PLAN) SELECT text FROM app.blocks WHERE text = $1",
    "EXPLAIN (ANALYZE, VERBOSE, BUFFERS, WAL, SETTINGS, MEMORY) SELECT text FROM app.blocks",
    "EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) SELECT text FROM app.blocks WHERE text > 'A' ORDER BY text",
    "EXPLAIN (ANALYZE, SERIALIZE TEXT) SELECT b.text, d.text FROM app.blocks b, app.audit_details d",
    "EXPLAIN (ANALYZE, VERBOSE) UPDATE app.blocks SET text = text WHERE text <> ''",
    "EXPLAIN (ANALYZE, VERBOSE) DELETE FROM app.blocks",
)
# What only a superuser switches on: with it, statements and so what people wrote would go to the server's log.
SUPERUSERS = (
    "log_statement = 'all'", "log_min_duration_statement = 0", "log_parameter_max_length = -1", "log_duration = on",
    "log_min_messages = debug5", "log_min_error_statement = debug5", "track_activities = on",
    "log_error_verbosity = verbose", "log_executor_stats = on",
    "session_preload_libraries = 'auto_explain'", "log_statement_stats = on", "compute_query_id = on",
    "allow_system_table_mods = on", "zero_damaged_pages = on",
    "session_replication_role = replica", "backtrace_functions = 'errstart'", "dynamic_library_path = '/tmp'",
    "lc_messages = 'C'", "temp_file_limit = 1", "track_functions = 'all'", "deadlock_timeout = 1",
)  # fmt: skip


def _in_a_plan(secret: bytes) -> str:
    """Bytes as a plan writes them, without the blanks: signed decimal numbers."""
    return "".join(str(byte - 256 if byte > 127 else byte) for byte in secret)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("login", LOGINS)
def test_no_trace_shows_a_key(scene: Scene, login: str, use: str) -> None:
    """The own token is there, which a session can read anyway; it shows that a key would be found."""
    keys = signing_keys(ensure_keys(scene.world.settings)[1])
    with scene.login(login) as connection:
        for name in TRACES:
            connection.execute(f"SET {name} = on".encode())
        connection.execute("SET client_min_messages = debug5")
        token = str(scene.token("stranger", connection.info.backend_pid))
        heard = run(connection, (use,), lambda: bind(connection, token), commit=False)
    said = re.sub(r"\s", "", heard.said)  # a pretty trace breaks its lines anywhere
    assert _in_a_plan(token[:16].encode()) in said
    for key in keys:
        for secret in (key.key, key.inner_pad, key.outer_pad):
            assert secret[:16].hex() not in said
            assert _in_a_plan(secret[:16]) not in said
    assert SECRET not in heard.said
    assert _in_a_plan(SECRET.encode()) not in said


@pytest.mark.parametrize("statement", EXPLAINED)
def test_an_explanation_holds_no_content(scene: Scene, statement: str) -> None:
    with scene.world.superuser() as connection:
        connection.execute("ANALYZE app.blocks, app.audit_details")
    owner = scene.cast.owner.identity
    for login in LOGINS:
        assert scene.hear(login, "owner", statement).error is None
        for name in OTHERS:
            said = scene.hear(login, name, statement).said
            assert "app.blocks" in said or "blocks" in said
            assert SECRET not in said
            assert str(owner.user_id) not in said


def test_what_an_explanation_tells_is_a_count(scene: Scene) -> None:
    """No privilege takes this away: a scan without an index counts what the policy removed, over all orgs."""
    scan = ("SET LOCAL enable_indexscan = off", "SET LOCAL enable_bitmapscan = off",
            "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT FROM app.blocks")  # fmt: skip
    [(stored,)] = scene.world.rows("SELECT count(*) FROM app.blocks")
    said = scene.hear("keepline_app", "stranger", *scan).said
    assert re.findall(r"Rows Removed by Filter: (\d+)", said) == [str(stored - 1)]
    numbers = {int(number) for number in re.findall(r"\d+", re.sub(r"\$\d|app\.|InitPlan \d", "", said))}
    assert numbers <= {0, 1, stored - 1, stored}, said


@pytest.fixture
def customers(world: World) -> Iterator[None]:
    """So many orgs that a plan's cost could show where among their names a word belongs."""
    with world.superuser() as connection:
        connection.execute(
            "INSERT INTO app.orgs (slug, name, created_at) SELECT 'customer-' || md5(n::text), 'A customer', now() "
            "FROM generate_series(1, 2000) AS n"
        )
        connection.execute("ANALYZE app.orgs")
        yield
        connection.execute("DELETE FROM app.orgs WHERE name = 'A customer'")
        connection.execute("VACUUM ANALYZE app.orgs")


def _costs(scene: Scene, login: str) -> set[str]:
    """What a stranger's plans cost, by how far a walk along the index of all short names goes."""
    knobs = [f"SET LOCAL {name} = off" for name in ("enable_seqscan", "enable_sort", "enable_bitmapscan")]
    words = ("a", *(f"customer-{digit}" for digit in "02468ace"), "d")
    said = [
        scene.hear(login, "stranger", *knobs, f"EXPLAIN SELECT FROM app.orgs WHERE slug < '{word}' ORDER BY slug").said
        for word in words
    ]
    assert all("Index Scan using orgs_slug_key" in plan for plan in said)
    return {cost for plan in said for cost in re.findall(r"cost=\S+ rows=\d+", plan)[:1]}


@pytest.mark.usefixtures("customers")
def test_an_estimate_tells_no_name(scene: Scene) -> None:
    """Samples of all orgs measure out what a plan costs; the control is a column that is sampled."""
    for login in LOGINS:
        assert len(_costs(scene, login)) == 1
    with scene.world.superuser() as connection:
        connection.execute("ALTER TABLE app.orgs ALTER COLUMN slug SET STATISTICS 100")
        try:
            connection.execute("ANALYZE app.orgs")
            for login in LOGINS:
                assert len(_costs(scene, login)) > 5
        finally:
            connection.execute("ALTER TABLE app.orgs ALTER COLUMN slug SET STATISTICS 0")
            connection.execute("SELECT pg_clear_attribute_stats('app', 'orgs', 'slug', false)")


@pytest.mark.parametrize("setting", SUPERUSERS)
def test_what_would_log_or_disarm_is_a_superusers_to_set(scene: Scene, setting: str) -> None:
    for login in LOGINS:
        assert scene.hear(login, "stranger", f"SET LOCAL {setting}").refusal == "42501"
