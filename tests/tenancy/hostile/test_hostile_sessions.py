"""What reaches over to other sessions or outlives the own one: refused, or it carries nothing of anybody."""

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from tenancy.database import Login, refuse_unsafe_login
from tenancy.errors import SetupError
from tests.tenancy.app_role import bind
from tests.tenancy.hostile.attackers import LOGINS, SECRET, Scene
from tests.tenancy.pool_of_one import pool_of

DENIED = "42501"
BECOMING = (
    "SET ROLE keepline_owner", "SET ROLE keepline_guard", "SET ROLE keepline_maint", "SET ROLE keepline_purge",
    "SET ROLE keepline_migrate", "SET ROLE postgres", "SET LOCAL ROLE keepline_owner",
    "SET SESSION ROLE pg_read_all_data",
    "SELECT set_config('role', 'keepline_owner', true)", "SET SESSION AUTHORIZATION postgres",
    "SET LOCAL SESSION AUTHORIZATION keepline_owner", "SELECT set_config('session_authorization', 'postgres', false)",
    "ALTER ROLE CURRENT_USER BYPASSRLS", "ALTER ROLE CURRENT_USER SUPERUSER", "ALTER ROLE CURRENT_USER CREATEROLE",
    "ALTER ROLE CURRENT_USER INHERIT", "ALTER ROLE CURRENT_USER CONNECTION LIMIT 1", "ALTER ROLE CURRENT_USER NOLOGIN",
    "ALTER ROLE CURRENT_USER VALID UNTIL 'yesterday'", "ALTER ROLE keepline_owner PASSWORD 'x'",
    "ALTER ROLE keepline_owner SET search_path = ''", "ALTER ROLE keepline_owner RENAME TO mine",
    "ALTER ROLE CURRENT_USER SET track_activities = on",
    "ALTER ROLE CURRENT_USER SET session_replication_role = replica",
    "ALTER ROLE CURRENT_USER SET keepline.identity = 'x'", "ALTER DATABASE keepline SET search_path = ''",
)  # fmt: skip
REACHING = (
    "SELECT pg_terminate_backend(pg_backend_pid())", "SELECT pg_cancel_backend(pg_backend_pid())",
    "SELECT pg_log_backend_memory_contexts(pg_backend_pid())", "LOCK TABLE app.orgs IN EXCLUSIVE MODE",
    "LOCK TABLE app.users IN ACCESS EXCLUSIVE MODE", "LOCK TABLE tenancy.signing_keys IN ACCESS SHARE MODE",
    "LOCK TABLE app.providers", "ANALYZE (SKIP_LOCKED) tenancy.signing_keys, app.nothing",
)  # fmt: skip
ADVISORY = (
    "pg_advisory_lock(1)", "pg_try_advisory_lock(1)", "pg_advisory_xact_lock(1, 1)", "pg_advisory_lock_shared(1)",
    "pg_try_advisory_xact_lock_shared(1)", "pg_advisory_unlock_all()", "pg_notify('x', 'y')",
    "pg_notification_queue_usage()",
)  # fmt: skip
# No privilege keeps a login from changing these of its own; a process that starts refuses what was left behind.
LEFT_BEHIND = (
    "row_security = off", "default_transaction_read_only = on", "debug_print_plan = on", "bytea_output = escape",
    "default_transaction_isolation = 'serializable'", "local_preload_libraries = 'x'",
)  # fmt: skip


@pytest.mark.parametrize("statement", [*BECOMING, *REACHING])
def test_it_is_refused(scene: Scene, statement: str) -> None:
    for login in LOGINS:
        heard = scene.hear(login, "stranger", statement)
        assert heard.refusal in (DENIED, "42P01"), (login, heard)


@pytest.mark.parametrize("call", ADVISORY)
def test_the_app_locks_and_wakes_nobody(scene: Scene, call: str) -> None:
    """The worker does both, which is its control; SQL of one expression can't, as NOTIFY is a statement of its own."""
    assert scene.hear("keepline_app", "stranger", f"SELECT {call}").refusal == DENIED
    assert scene.hear("keepline_worker", "stranger", f"SELECT {call}").error is None


def test_an_identity_signed_for_one_login_gives_no_more_to_the_other(scene: Scene) -> None:
    """Both see what the person has; neither is a way round the other's grants."""
    assert scene.hear("keepline_worker", "owner", "SELECT id FROM app.web_sessions").refusal == DENIED
    assert scene.hear("keepline_app", "owner", "SELECT id FROM app.web_sessions").error is None


def test_row_security_off_is_an_error_and_no_rows(scene: Scene) -> None:
    for login in LOGINS:
        for name in ("owner", "stranger", "nobody"):
            heard = scene.hear(login, name, "SET LOCAL row_security = off", "SELECT text FROM app.blocks")
            assert (heard.rows, heard.refusal) == ([], DENIED)
            assert SECRET not in heard.said


def test_session_replication_role_stays(scene: Scene) -> None:
    """It would leave out the triggers that keep foreign keys."""
    for login in LOGINS:
        assert scene.hear(login, "owner", "SET session_replication_role = replica").refusal == DENIED


@pytest.mark.parametrize("setting", LEFT_BEHIND)
@pytest.mark.parametrize("login", LOGINS)
def test_a_setting_left_on_a_login_is_found_at_the_next_start(scene: Scene, login: str, setting: str) -> None:
    name = setting.partition(" ")[0]
    conninfo = scene.world.server.conninfo(login)
    heard = scene.hear(login, "stranger", f"ALTER ROLE CURRENT_USER SET {setting}")
    if heard.refusal == DENIED:
        return
    assert heard.error is None
    try:
        with pytest.raises(SetupError, match="cannot be reached" if "preload" in name else f"has the settings {name}"):
            refuse_unsafe_login(Login(login, conninfo), strict_floor=False)
    finally:
        with scene.world.superuser() as connection:
            connection.execute(f"ALTER ROLE {login} RESET {name}".encode())
    refuse_unsafe_login(Login(login, conninfo), strict_floor=False)


def test_a_notification_carries_what_its_sender_chose(scene: Scene) -> None:
    """NOTIFY and LISTEN have no privileges: what is heard on a channel proves nothing and must name nothing."""
    with scene.login("keepline_worker") as listening:
        listening.execute("LISTEN jobs")
        assert scene.hear("keepline_app", "stranger", "NOTIFY jobs, 'forged'").error is None
        assert [heard.payload for heard in listening.notifies(timeout=5, stop_after=1)] == ["forged"]


@pytest.mark.parametrize(
    "left",
    [
        "SET search_path = pg_temp",
        "SET row_security = off",
        "SET statement_timeout = 0",
        "PREPARE _pg3_0 AS SELECT 'mine'",
        "SELECT set_config('keepline.identity', current_setting('keepline.identity'), false)",
    ],
)
def test_what_a_session_keeps_shows_nobody_elses_rows(scene: Scene, left: str) -> None:
    """On a connection that the next person is handed: they see their own or get an error, and never the owner's."""
    with pool_of(scene.world) as pool:
        pool.run(scene.cast.owner.identity, left)
        try:
            seen = pool.read(scene.cast.stranger.identity)
        except (DBAPIError, psycopg.Error):
            seen = []
        assert seen in ([], ["A line of my own"])


def test_an_identity_kept_by_a_savepoint_is_the_transactions(scene: Scene) -> None:
    """Rolled back or released, what was bound within is gone with the transaction."""
    for end in ("ROLLBACK TO s", "RELEASE s"):
        with scene.login("keepline_app") as connection:
            connection.execute("BEGIN")
            connection.execute("SAVEPOINT s")
            bind(connection, scene.token("owner", connection.info.backend_pid))
            assert len(connection.execute("SELECT text FROM app.blocks").fetchall()) == 1
            connection.execute(end.encode())
            seen = connection.execute("SELECT text FROM app.blocks").fetchall()
            assert len(seen) == (1 if "RELEASE" in end else 0)
            connection.execute("COMMIT")
            assert connection.execute("SELECT text FROM app.blocks").fetchall() == []
