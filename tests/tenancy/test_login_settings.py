"""What a URL or the environment of a process could set on a connection is refused or has no effect."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tenancy.database import Login, create_pool, operator_login, refuse_unsafe_login, web_login, worker_login
from tenancy.errors import SetupError
from tenancy.login_faults import older_than_safe
from tenancy.settings import Settings, environment_for, read_settings
from tests.world import World

LoginOf = Callable[[Settings], Login]
EVERY_LOGIN = pytest.mark.parametrize(
    "login_of", [web_login, worker_login, operator_login], ids=["web", "worker", "operator"]
)
IDENTITY = "SELECT current_setting('keepline.identity', true)"


def _external(world: World, tmp_path: Path, **parts: str) -> Settings:
    """Settings of an external database whose three URLs carry something more."""
    urls = {
        f"KEEPLINE_{kind}DATABASE_URL": make_conninfo(world.server.conninfo(role), **parts)
        for kind, role in (("", "keepline_app"), ("WORKER_", "keepline_worker"), ("OWNER_", "keepline_migrate"))
    }
    return read_settings({"KEEPLINE_DATA_DIR": str(tmp_path), **urls})


def _refused(login: Login) -> str:
    with pytest.raises(SetupError) as refusal:
        refuse_unsafe_login(login, strict_floor=False)
    return str(refusal.value)


@EVERY_LOGIN
@pytest.mark.parametrize("options", ["-c keepline.identity=somebody", "-ckeepline.x=1", "--keepline.identity=somebody"])
def test_a_database_url_with_an_identity_is_refused(
    world: World, tmp_path: Path, login_of: LoginOf, options: str
) -> None:
    with pytest.raises(SetupError, match=r"sets a keepline\.\* parameter, which would be an identity by default"):
        login_of(_external(world, tmp_path, options=options))


@EVERY_LOGIN
@pytest.mark.parametrize("external", [True, False], ids=["external", "embedded"])
def test_an_identity_in_the_environment_of_the_client_library_has_no_effect(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, login_of: LoginOf, external: bool
) -> None:
    """libpq reads PGOPTIONS, and the options of a service file, where a URL says nothing about it."""
    services = tmp_path / "services"
    services.write_text("[poisoned]\noptions=-c keepline.identity=somebody\n", "utf-8")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    settings = _external(world, tmp_path) if external else world.settings
    login = login_of(settings)
    for name, value in (("PGOPTIONS", "-c keepline.identity=somebody"), ("PGSERVICE", "poisoned")):
        with monkeypatch.context() as environment:
            environment.setenv(name, value)
            with psycopg.connect(world.app_conninfo()) as connection:
                assert connection.execute(IDENTITY).fetchone() == ("somebody",)
            engine = create_pool(login, 1)
            with engine.connect() as pooled:
                assert pooled.exec_driver_sql(IDENTITY).scalar_one() is None
            engine.dispose()
            if login_of is not operator_login:
                refuse_unsafe_login(login, strict_floor=False)


def test_an_encoding_in_the_environment_has_no_effect(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    for conninfo, encoding in ((world.app_conninfo(), "LATIN1"), (web_login(world.settings).conninfo, "UTF8")):
        with psycopg.connect(conninfo) as connection:
            assert connection.execute("SHOW client_encoding").fetchone() == (encoding,)


@pytest.mark.parametrize("login_of", [web_login, worker_login], ids=["web", "worker"])
@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ("-c row_security=off", "a new connection has the settings row_security, from its URL"),
        ("-c debug_print_plan=on -c DateStyle=German", "a new connection has the settings DateStyle, debug_print_plan"),
        ("-c track_activities=on", 'permission denied to set parameter "track_activities"'),
        ("-c default_transaction_read_only=on", "the database can only be read, as a replica can"),
    ],
)
def test_a_database_url_with_other_settings_is_refused(
    world: World, tmp_path: Path, login_of: LoginOf, options: str, fault: str
) -> None:
    assert fault in _refused(login_of(_external(world, tmp_path, options=options)))


@pytest.mark.parametrize("login_of", [web_login, worker_login], ids=["web", "worker"])
def test_a_database_url_with_time_limits_of_its_own_is_accepted(
    world: World, tmp_path: Path, login_of: LoginOf
) -> None:
    login = login_of(_external(world, tmp_path, options="-c statement_timeout=3s", connect_timeout="5"))
    refuse_unsafe_login(login, strict_floor=False)
    with psycopg.connect(login.conninfo) as connection:
        assert connection.execute("SHOW statement_timeout").fetchone() == ("3s",)


@pytest.mark.parametrize(
    ("number", "vector", "outdated"),
    [
        (180006, "0.8.4", []),
        (190000, "1.0", []),
        (180005, "0.8.4", ["PostgreSQL 18.5 is older than 18.6"]),
        (170011, "0.8.10", ["PostgreSQL 17.11 is older than 18.6"]),
        (180006, "0.8", ["pgvector 0.8 is older than 0.8.4"]),
        (180004, "0.8.3", ["PostgreSQL 18.4 is older than 18.6", "pgvector 0.8.3 is older than 0.8.4"]),
    ],
)
def test_the_floor_of_versions(number: int, vector: str, outdated: list[str]) -> None:
    assert list(older_than_safe(number, vector)) == outdated


@pytest.mark.parametrize(("command", "variable"), [("serve", ""), ("worker", "WORKER_")])
def test_a_process_ends_with_the_sentence_and_no_trace(
    world: World, tmp_path: Path, command: str, variable: str
) -> None:
    """As an operator meets it: gunicorn and the worker, started with a superuser in the URL."""
    environment = {
        **environment_for(world.settings),
        **{
            f"KEEPLINE_{kind}DATABASE_URL": world.server.conninfo("postgres" if kind == variable else role)
            for kind, role in (("", "keepline_app"), ("WORKER_", "keepline_worker"), ("OWNER_", "keepline_migrate"))
        },
        "KEEPLINE_DATA_DIR": str(tmp_path),
        "KEEPLINE_DEMO": "0",
        "KEEPLINE_SECRET_KEY": "s" * 40,
        "KEEPLINE_IDENTITY_KEY": "i" * 40,
    }
    ended = subprocess.run(
        [sys.executable, "-m", "commands.main", command], env=environment, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert "keepline: Keepline does not start as this database login: " in ended.stderr
    assert "postgres is a superuser, which no policy binds" in ended.stderr
    assert "Traceback" not in ended.stderr
