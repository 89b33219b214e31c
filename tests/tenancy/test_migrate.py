"""Migrate can be run again at any time, puts policies right, and readiness notices when they are not."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tenancy.database import Login, operator_login, web_login
from tenancy.errors import SetupError
from tenancy.keys import SigningKey, signing_keys
from tenancy.migrate import migrate, refuse_wrong_login
from tenancy.settings import ensure_keys
from tests.cast import Cast
from tests.tenancy.people_at_work import people_at_work
from tests.world import World

STATE = """SELECT tablename || policyname, roles::text, cmd || coalesce(qual, '') || coalesce(with_check, '')
    FROM pg_policies WHERE schemaname = 'app'
    UNION ALL SELECT relname, relacl::text, relrowsecurity::text || relforcerowsecurity::text FROM pg_class
    WHERE relnamespace IN ('app'::regnamespace, 'tenancy'::regnamespace) AND relkind IN ('r', 'p')
    UNION ALL SELECT attrelid::regclass::text || attname, attacl::text, '' FROM pg_attribute
    WHERE attrelid >= 16384 AND attacl IS NOT NULL
    UNION ALL SELECT proname, proacl::text, prosrc FROM pg_proc WHERE pronamespace = 'tenancy'::regnamespace
    UNION ALL SELECT key_id, inner_pad::text, outer_pad::text FROM tenancy.signing_keys ORDER BY 1, 2, 3"""


def _keys(world: World) -> tuple[SigningKey, ...]:
    return signing_keys(ensure_keys(world.settings)[1])


def _migrate(world: World) -> None:
    migrate(operator_login(world.settings), _keys(world))


@pytest.fixture
def state(world: World) -> Iterator[list[tuple[Any, ...]]]:
    """The state of catalogue and keys, to which each test returns."""
    _migrate(world)
    before = world.rows(STATE)
    yield before
    _migrate(world)
    assert world.rows(STATE) == before


def _readiness(world: World) -> tuple[int, str]:
    reply = world.app.test_client().get("/readyz")
    return reply.status_code, (reply.json or {}).get("code", "")


def test_migrating_again_changes_nothing(world: World, cast: Cast, state: list[tuple[Any, ...]]) -> None:
    assert cast.owner.program.write("Kept").status_code == 200
    _migrate(world)
    assert world.rows(STATE) == state
    assert world.rows("SELECT text FROM app.blocks") == [("Kept",)]
    assert _readiness(world) == (200, "")


def test_two_migrates_at_once_both_succeed(world: World, state: list[tuple[Any, ...]]) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            _migrate(world)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert world.rows(STATE) == state


@pytest.mark.parametrize(
    "by_hand",
    [
        "DROP POLICY own_block ON app.blocks",
        "CREATE POLICY lax ON app.blocks FOR SELECT TO keepline_app USING (true)",
        "ALTER POLICY own_block ON app.blocks USING (true)",
        "ALTER POLICY own_block ON app.blocks WITH CHECK (true)",
        "ALTER POLICY own_block ON app.blocks TO PUBLIC",
        "ALTER POLICY own_block ON app.blocks RENAME TO my_block",
        "ALTER TABLE app.blocks NO FORCE ROW LEVEL SECURITY",
        "ALTER TABLE app.blocks DISABLE ROW LEVEL SECURITY",
    ],
)
def test_a_policy_changed_by_hand_is_noticed_and_put_right(
    world: World, state: list[tuple[Any, ...]], by_hand: str
) -> None:
    assert _readiness(world) == (200, "")
    with world.superuser() as connection:
        connection.execute(by_hand.encode())
    assert _readiness(world) == (503, "not_ready")
    _migrate(world)
    assert _readiness(world) == (200, "")
    assert world.rows(STATE) == state


@pytest.mark.parametrize(
    "by_hand",
    [
        "GRANT SELECT ON app.providers TO keepline_app",
        "GRANT SELECT ON app.providers TO PUBLIC",
        "GRANT SELECT (client_secret) ON app.providers TO PUBLIC",
        "GRANT UPDATE (user_id) ON app.blocks TO keepline_app",
        "GRANT INSERT ON app.audit_events TO keepline_worker",
        "GRANT EXECUTE ON FUNCTION tenancy.open_ticket(text, text) TO PUBLIC",
        "GRANT EXECUTE ON FUNCTION tenancy.open_ticket(text, text) TO keepline_app",
        "GRANT SELECT ON tenancy.signing_keys TO keepline_app",
        "GRANT SELECT (sealed) ON tenancy.sign_ins TO keepline_worker",
        "REVOKE EXECUTE ON FUNCTION tenancy.org_id() FROM keepline_owner",
        "REVOKE SELECT ON app.blocks FROM keepline_app",
    ],
)
def test_a_right_given_or_taken_by_hand_is_put_right(world: World, state: list[tuple[Any, ...]], by_hand: str) -> None:
    with world.superuser() as connection:
        connection.execute(by_hand.encode())
    assert world.rows(STATE) != state
    _migrate(world)
    assert world.rows(STATE) == state


@pytest.mark.parametrize(
    ("by_hand", "undo"),
    [
        ("UPDATE tenancy.applied SET revision = '0000'", "UPDATE tenancy.applied SET revision = '0003'"),
        ("CREATE TABLE app.extra ()", "DROP TABLE app.extra"),
        ("GRANT SELECT ON app.providers TO keepline_worker", "REVOKE SELECT ON app.providers FROM keepline_worker"),
        (
            "GRANT UPDATE (org_id) ON app.blocks TO keepline_app",
            "REVOKE UPDATE (org_id) ON app.blocks FROM keepline_app",
        ),
        (
            "ALTER FUNCTION tenancy.append_audit SECURITY INVOKER",
            "ALTER FUNCTION tenancy.append_audit SECURITY DEFINER",
        ),
        ("ALTER ROLE keepline_app SET keepline.identity = 'x'", "ALTER ROLE keepline_app RESET keepline.identity"),
        ("ALTER ROLE keepline_app BYPASSRLS", "ALTER ROLE keepline_app NOBYPASSRLS"),
        ("GRANT keepline_owner TO keepline_worker", "REVOKE keepline_owner FROM keepline_worker"),
    ],
)
def test_what_the_last_migrate_did_not_leave_is_not_ready(world: World, by_hand: str, undo: str) -> None:
    with world.superuser() as connection:
        connection.execute(by_hand.encode())
        try:
            assert _readiness(world) == (503, "not_ready")
        finally:
            connection.execute(undo.encode())
    assert _readiness(world) == (200, "")


def test_policies_are_applied_anew_while_people_work(world: World, cast: Cast) -> None:
    """It waits for them and they for it, a moment each, and no call fails."""
    with people_at_work(cast, app=world.app) as people:
        for _ in range(3):
            with world.superuser() as connection:
                connection.execute("GRANT SELECT ON app.providers TO keepline_worker")
            time.sleep(0.2)
            _migrate(world)
            assert _readiness(world) == (200, "")
    assert set(people.answers) == {("app", 200)}


def test_a_table_without_a_file_of_policies_stops_migrate(world: World, state: list[tuple[Any, ...]]) -> None:
    with world.superuser() as connection:
        connection.execute("CREATE TABLE app.extra (); ALTER TABLE app.extra OWNER TO keepline_owner")
        try:
            with pytest.raises(SetupError, match=r"sql/policies and the tables differ: extra\."):
                _migrate(world)
        finally:
            connection.execute("DROP TABLE app.extra")
    assert world.rows(STATE) == state


@pytest.mark.parametrize("role", ["postgres", "keepline_app", "keepline_worker"])
def test_another_login_is_refused(world: World, role: str) -> None:
    login = Login("keepline_migrate", world.server.conninfo(role))
    with pytest.raises(SetupError) as refusal:
        migrate(login, _keys(world))
    assert f"this is {role}" in str(refusal.value)
    assert "set KEEPLINE_OWNER_DATABASE_URL to log in as keepline_migrate" in str(refusal.value)
    with pytest.raises(SetupError, match=f"this is {role}"):
        refuse_wrong_login(login)  # what maintain asks before it begins


def test_the_webs_login_is_not_the_operators(world: World) -> None:
    assert operator_login(world.settings).conninfo != web_login(world.settings).conninfo
