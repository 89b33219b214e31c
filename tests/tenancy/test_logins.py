"""A process that serves or works refuses to start as anything that policies do not hold, and says what to do."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from tenancy.database import Login, refuse_unsafe_login, web_login, worker_login
from tenancy.errors import SetupError
from tenancy.settings import Settings, read_settings
from tests.world import World

LoginOf = Callable[[Settings], Login]

WHAT_TO_DO = "Log in as {}, made by `keepline migrate --print-roles`."


@contextmanager
def changed(world: World, *statements: str, undo: str) -> Iterator[None]:
    """Change roles or the database by a superuser's hand, and undo it."""
    with world.superuser() as connection:
        try:
            for statement in statements:
                connection.execute(statement.encode())
            yield
        finally:
            connection.execute(undo.encode())


def _refused(login: Login) -> str:
    with pytest.raises(SetupError) as refusal:
        refuse_unsafe_login(login, strict_floor=False)
    assert WHAT_TO_DO.format(login.role) in str(refusal.value)
    return str(refusal.value)


@pytest.mark.parametrize("login_of", [web_login, worker_login], ids=["web", "worker"])
def test_the_logins_that_migrate_made_are_accepted(world: World, login_of: LoginOf) -> None:
    refuse_unsafe_login(login_of(world.settings), strict_floor=False)


@pytest.mark.parametrize("role", ["keepline_app", "keepline_worker"])
def test_a_superuser_is_refused(world: World, role: str) -> None:
    """Also on the embedded server, where it would be so easy."""
    said = _refused(Login(role, world.server.conninfo("postgres")))
    assert "postgres is a superuser, which no policy binds" in said
    assert f"the login is postgres, not {role}" in said


def test_the_login_that_may_become_the_owner_is_refused(world: World) -> None:
    said = _refused(Login("keepline_app", world.server.conninfo("keepline_migrate")))
    assert "keepline_migrate is a member of" in said
    assert "keepline_owner" in said


def test_the_login_of_the_other_process_is_refused(world: World) -> None:
    assert "the login is keepline_worker, not keepline_app" in _refused(
        Login("keepline_app", world.server.conninfo("keepline_worker"))
    )


@pytest.mark.parametrize(
    ("change", "undo", "fault"),
    [
        ("ALTER ROLE {0} BYPASSRLS", "ALTER ROLE {0} NOBYPASSRLS", "{0} has BYPASSRLS"),
        ("ALTER ROLE {0} CREATEROLE", "ALTER ROLE {0} NOCREATEROLE", "{0} may create roles or databases"),
        (
            "ALTER ROLE {0} REPLICATION",
            "ALTER ROLE {0} NOREPLICATION",
            "databases, or replicate",
        ),
        ("GRANT keepline_owner TO {0}", "REVOKE keepline_owner FROM {0}", "{0} is a member of keepline_owner"),
        ("GRANT pg_read_all_data TO {0}", "REVOKE pg_read_all_data FROM {0}", "{0} is a member of pg_read_all_data"),
        (
            "CREATE TABLE app.left_over (); ALTER TABLE app.left_over OWNER TO {0}",
            "DROP TABLE app.left_over",
            "{0} owns Keepline's tables",
        ),
        (
            "ALTER ROLE {0} SET keepline.identity = 'somebody'",
            "ALTER ROLE {0} RESET keepline.identity",
            "has the settings keepline.identity, which Keepline did not make",
        ),
        (
            "ALTER ROLE {0} IN DATABASE keepline SET row_security = off",
            "ALTER ROLE {0} IN DATABASE keepline RESET row_security",
            "has the settings row_security",
        ),
        (
            "ALTER DATABASE keepline SET keepline.identity = 'somebody'",
            "ALTER DATABASE keepline RESET keepline.identity",
            "has the settings keepline.identity",
        ),
        (
            "ALTER ROLE {0} SET debug_print_plan = on",
            "ALTER ROLE {0} RESET debug_print_plan",
            "has the settings debug_print_plan",
        ),
        (
            "ALTER ROLE {0} RESET track_activities",
            "ALTER ROLE {0} SET track_activities = off",
            "track_activities is on",
        ),
    ],
)
@pytest.mark.parametrize("login_of", [web_login, worker_login], ids=["web", "worker"])
def test_a_login_that_was_made_stronger_is_refused(
    world: World, login_of: LoginOf, change: str, undo: str, fault: str
) -> None:
    login = login_of(world.settings)
    with changed(world, *change.format(login.role).split("; "), undo=undo.format(login.role)):
        assert fault.format(login.role) in _refused(login)
    refuse_unsafe_login(login, strict_floor=False)


def test_a_database_url_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    urls = {f"KEEPLINE_{kind}DATABASE_URL": "postgresql://[" for kind in ("", "WORKER_", "OWNER_")}
    with pytest.raises(SetupError, match="The database URL of keepline_app cannot be read"):
        web_login(read_settings({"KEEPLINE_DATA_DIR": str(tmp_path), **urls}))


def test_a_database_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="The database cannot be reached as keepline_app"):
        refuse_unsafe_login(Login("keepline_app", make_conninfo(host=str(tmp_path), user="u")), strict_floor=False)


def test_below_the_known_safe_versions_it_warns_or_refuses(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """The version of the extension is made older in the catalogue; the server's own is what it is."""
    [(version,)] = world.rows("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    set_version = (
        "SET allow_system_table_mods = on",
        "UPDATE pg_extension SET extversion = '{}' WHERE extname = 'vector'",
    )
    login = web_login(world.settings)
    with changed(world, set_version[0], set_version[1].format("0.8.3"), undo=set_version[1].format(version)):
        with caplog.at_level(logging.WARNING, "tenancy.database"):
            refuse_unsafe_login(login, strict_floor=False)
        assert "pgvector 0.8.3 is older than 0.8.4" in caplog.text
        with pytest.raises(SetupError, match=r"pgvector 0\.8\.3 is older than 0\.8\.4, and KEEPLINE_STRICT_FLOOR is 1"):
            refuse_unsafe_login(login, strict_floor=True)


def test_the_servers_own_version_is_checked_too(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """The embedded server is below the floor today; when it no longer is, nothing may be said."""
    [(number,)] = world.rows("SELECT current_setting('server_version_num')::int")
    with caplog.at_level(logging.WARNING, "tenancy.database"):
        refuse_unsafe_login(web_login(world.settings), strict_floor=False)
    assert ("PostgreSQL 18.4 is older than 18.6" in caplog.text) == (number == 180004)


def test_without_the_extension_it_refuses(world: World) -> None:
    with (
        changed(
            world,
            "SET allow_system_table_mods = on",
            "UPDATE pg_extension SET extname = 'vector_gone' WHERE extname = 'vector'",
            undo="UPDATE pg_extension SET extname = 'vector' WHERE extname = 'vector_gone'",
        ),
        pytest.raises(SetupError, match="The extension vector is not installed"),
    ):
        refuse_unsafe_login(web_login(world.settings), strict_floor=False)


@pytest.mark.parametrize("login_of", [web_login, worker_login], ids=["web", "worker"])
def test_a_superuser_that_takes_the_role_on_is_refused(world: World, login_of: LoginOf) -> None:
    """SET ROLE NONE would bring the superuser back."""
    role = login_of(world.settings).role
    said = _refused(
        Login(role, make_conninfo(world.server.conninfo("postgres"), options=f"-c role={role} -c track_activities=off"))
    )
    assert "postgres is a superuser, which no policy binds" in said
