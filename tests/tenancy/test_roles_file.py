"""The file of the roles can be run again: it changes nothing that is right, and heals what a login did to itself."""

from typing import Any

import psycopg
import pytest

from tenancy.database import Login, operator_login, refuse_unsafe_login
from tenancy.keys import signing_keys
from tenancy.migrate import migrate, roles_sql
from tenancy.settings import ensure_keys
from tests.tenancy.hostile.attackers import LOGINS
from tests.world import World

_SETTINGS = """SELECT r.rolname, s.setdatabase, entry
    FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole, unnest(s.setconfig) AS entry ORDER BY 1, 2, 3"""
_RIGHTS = (
    _SETTINGS,
    "SELECT oid, nspowner, nspacl FROM pg_namespace ORDER BY 1",
    "SELECT oid, relowner, relacl FROM pg_class WHERE relacl IS NOT NULL ORDER BY 1",
    "SELECT attrelid, attnum, attacl FROM pg_attribute WHERE attacl IS NOT NULL ORDER BY 1, 2",
    "SELECT oid, proowner, prosrc, proconfig, proacl FROM pg_proc ORDER BY 1",
    "SELECT oid, lanacl FROM pg_language ORDER BY 1",
    "SELECT oid, datacl FROM pg_database ORDER BY 1",
    "SELECT * FROM pg_default_acl ORDER BY 1",
    "SELECT * FROM pg_event_trigger ORDER BY 1",
    "SELECT roleid, member, admin_option, inherit_option, set_option FROM pg_auth_members ORDER BY 1, 2",
    "SELECT rolname, rolcanlogin, rolinherit, rolsuper, rolbypassrls FROM pg_roles ORDER BY 1",
)


def _rights(world: World) -> list[list[tuple[Any, ...]]]:
    return [[tuple(map(str, row)) for row in world.rows(statement)] for statement in _RIGHTS]


def _run_again(world: World) -> None:
    """As an operator does, who lets a migrate follow; readiness notices settings, and also their order."""
    with world.superuser() as connection:
        connection.execute(roles_sql().encode())
    migrate(operator_login(world.settings), signing_keys(ensure_keys(world.settings)[1]))


def test_another_run_changes_nothing(world: World) -> None:
    before = _rights(world)
    assert all(before)
    _run_again(world)
    assert _rights(world) == before


@pytest.mark.parametrize("where", ["", " IN DATABASE keepline"], ids=["everywhere", "in its database"])
@pytest.mark.parametrize(
    "setting",
    ["row_security = off", "debug_print_plan = on", "statement_timeout = 0", "search_path = public", "ALL"],
)
def test_another_run_heals_what_a_login_set_for_itself(world: World, where: str, setting: str) -> None:
    """As nobody's identity, since it needs none; every statement is one that its login may run."""
    before = world.rows(_SETTINGS)
    act = "RESET ALL" if setting == "ALL" else f"SET {setting}"
    try:
        for login in LOGINS:
            with psycopg.connect(world.server.conninfo(login), autocommit=True) as connection:
                connection.execute(f"ALTER ROLE CURRENT_USER{where} {act}".encode())
        if setting != "ALL" or not where:
            assert world.rows(_SETTINGS) != before
    finally:
        _run_again(world)
    assert world.rows(_SETTINGS) == before
    for login in LOGINS:
        refuse_unsafe_login(Login(login, world.server.conninfo(login)), strict_floor=False)
