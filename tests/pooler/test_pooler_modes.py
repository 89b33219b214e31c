"""Which poolers Keepline starts behind, and how it says no to the others."""

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tenancy.database import Login, refuse_shared_backends, refuse_unsafe_login, shares_backends, web_login
from tenancy.errors import SetupError
from tenancy.settings import environment_for, read_settings
from tests.cast import Cast
from tests.pooler_server import Pooler, PoolMode, pooler_server
from tests.world import World, external_database

ROLES = ["keepline_app", "keepline_worker"]
TORN = (
    "The database does not keep a transaction together (transaction blocks not allowed in statement pooling mode), so "
    "that nobody's identity can be bound to it. A pooler in statement mode does this: set its pool_mode to transaction "
    "or session, or connect directly (docs/pooler.md)."
)


@pytest.fixture(scope="module")
def statement_pooler(_whole_world: World) -> Iterator[Pooler]:
    """PgBouncer in statement mode."""
    with pooler_server(_whole_world.server.address, mode="statement") as opened:
        yield opened


@pytest.mark.parametrize("role", ROLES)
def test_statement_mode_is_refused(statement_pooler: Pooler, role: str) -> None:
    with pytest.raises(SetupError) as refusal:
        refuse_unsafe_login(Login(role, statement_pooler.conninfo(role)), strict_floor=False)
    assert str(refusal.value) == TORN


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("mode", ["transaction", "session"])
def test_transaction_and_session_mode_are_accepted(world: World, mode: PoolMode, role: str) -> None:
    with pooler_server(world.server.address, mode=mode) as pooler:
        refuse_unsafe_login(Login(role, pooler.conninfo(role)), strict_floor=False)


@pytest.mark.parametrize(("command", "variable"), [("serve", ""), ("worker", "WORKER_")])
def test_a_process_behind_statement_mode_ends_with_the_sentence(
    world: World, statement_pooler: Pooler, tmp_path: Path, command: str, variable: str
) -> None:
    """gunicorn and the worker, as an operator starts them: no trace, and nothing is served."""
    urls = external_database(world.settings, world.server, statement_pooler)
    urls["KEEPLINE_DATABASE_URL"] = world.app_conninfo()
    urls[f"KEEPLINE_{variable}DATABASE_URL"] = statement_pooler.conninfo(
        "keepline_worker" if variable else "keepline_app"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "commands.main", command],
        env={**environment_for(world.settings), **urls, "KEEPLINE_DATA_DIR": str(tmp_path), "KEEPLINE_DEMO": "0"},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 1
    assert f"keepline: {TORN}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_app_behind_statement_mode_serves_nobody(world: World, cast: Cast, statement_pooler: Pooler) -> None:
    """Should a pooler be changed under a running process: nothing is stored, and no row of anybody is given out."""
    assert cast.owner.assistant.write("Mine").status_code == 200
    headers = {"Authorization": f"Bearer {cast.owner.program.token}"}
    with world.another_app(**external_database(world.settings, world.server, statement_pooler)) as app:
        saved = app.test_client().put("/v1/memory/block", json={"text": "Changed"}, headers=headers)
        assert (saved.status_code, saved.get_json()["code"]) == (503, "database_unavailable")
    assert world.rows("SELECT text FROM app.blocks") == [("Mine",)]


def test_what_an_earlier_client_set_for_the_session_is_refused(world: World) -> None:
    """Behind a pooler a new connection is an old one of somebody else."""
    with pooler_server(world.server.address, connections=1) as pooler:
        login = Login("keepline_app", pooler.conninfo("keepline_app"))
        for setting, fault in (
            ("row_security = off", "a new connection has the settings row_security, from its URL, the environment or"),
            ("keepline.identity = 'somebody'", "a new connection already carries an identity"),
        ):
            with psycopg.connect(login.conninfo, autocommit=True) as connection:
                connection.execute(f"SET {setting}".encode())
            with pytest.raises(SetupError, match=fault):
                refuse_unsafe_login(login, strict_floor=False)
            pooler.log_in_anew()
            refuse_unsafe_login(login, strict_floor=False)


def test_a_pooler_that_empties_its_connections_leaves_nothing_of_an_earlier_client(world: World) -> None:
    with pooler_server(world.server.address, connections=1, emptied=True) as pooler:
        login = Login("keepline_app", pooler.conninfo("keepline_app"))
        with psycopg.connect(login.conninfo, autocommit=True, prepare_threshold=None) as connection:
            connection.execute("SET keepline.identity = 'somebody'")
            connection.execute("PREPARE planted AS SELECT 1")
        refuse_unsafe_login(login, strict_floor=False)
        with psycopg.connect(login.conninfo, autocommit=True, prepare_threshold=None) as connection:
            assert connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (0,)


@pytest.mark.parametrize(
    ("mode", "emptied", "warned"),
    [("transaction", True, False), ("transaction", False, True), ("session", True, True), (None, False, False)],
    ids=["transaction, emptied", "transaction", "session", "direct"],
)
def test_a_pooler_that_keeps_sessions_is_warned_of(
    world: World, caplog: pytest.LogCaptureFixture, mode: PoolMode | None, emptied: bool, warned: bool
) -> None:
    with ExitStack() as stack:
        conninfo = world.app_conninfo()
        if mode is not None:
            pooler = stack.enter_context(pooler_server(world.server.address, mode=mode, emptied=emptied))
            conninfo = pooler.conninfo("keepline_app")
        with caplog.at_level(logging.WARNING, "tenancy.database"):
            refuse_unsafe_login(Login("keepline_app", conninfo), strict_floor=False)
        assert ("keeps what a transaction set for its session" in caplog.text) == warned


def test_the_name_of_the_program_goes_through_and_options_do_not(world: World, pooler: Pooler, tmp_path: Path) -> None:
    """PgBouncer 1.18 knows no options; a URL without them is sent without them, whatever PGOPTIONS says."""
    urls = external_database(world.settings, world.server, pooler)
    login = web_login(read_settings({**urls, "KEEPLINE_DATA_DIR": str(tmp_path)}))
    with psycopg.connect(login.conninfo) as connection:
        seen = connection.execute("SELECT current_setting('application_name'), current_setting('statement_timeout')")
        assert seen.fetchone() == ("keepline", "15s")
    with pytest.raises(psycopg.OperationalError, match="unsupported startup parameter: options"):
        psycopg.connect(make_conninfo(login.conninfo, options="-c statement_timeout=3s"))


def test_the_pid_of_a_pooled_connection_is_not_taken_for_the_backends(world: World, pooler: Pooler) -> None:
    """Otherwise an identity would be signed for a backend that the next transaction does not run on."""
    with world.another_app(**external_database(world.settings, world.server, pooler)) as app:
        engine = app.extensions["keepline"].binder._engine
        with engine.connect() as connection:
            assert connection.connection.info["backend_pid"] == 0


@pytest.mark.parametrize("connections", [1, 2, 5])
def test_a_pooler_that_shares_connections_is_found_out(world: World, connections: int) -> None:
    with pooler_server(world.server.address, connections=connections) as pooler:
        login = Login("keepline_migrate", pooler.conninfo("keepline_migrate"))
        _keep_busy(login, connections)
        assert shares_backends(login)
        with pytest.raises(SetupError, match="Migrate needs database connections of its own, and keepline_migrate"):
            refuse_shared_backends(login, "Migrate")


def test_connections_of_ones_own_are_accepted(world: World) -> None:
    direct = Login("keepline_migrate", world.server.conninfo("keepline_migrate"))
    assert not shares_backends(direct)
    refuse_shared_backends(direct, "Migrate")
    with pooler_server(world.server.address, mode="session") as pooler:
        assert not shares_backends(Login("keepline_migrate", pooler.conninfo("keepline_migrate")))


def _keep_busy(login: Login, connections: int) -> None:
    """Let the pooler open all the connections it may, so that there are several to hand out."""
    together = threading.Barrier(connections)

    def hold() -> None:
        with psycopg.connect(login.conninfo) as connection:
            connection.execute("SELECT 1")
            together.wait(20)

    threads = [threading.Thread(target=hold) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
