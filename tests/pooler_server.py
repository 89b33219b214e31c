"""Debian's PgBouncer in front of the embedded server, as an operator would put one before a database."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tenancy.embedded.access import let_pass, make_folder, write_file
from tenancy.embedded.account import Account, server_account
from tenancy.embedded.address import Address
from tenancy.parent_death import signal_on_parent_death

PoolMode = Literal["session", "transaction", "statement"]

_PORT = 6432  # names the socket; nothing listens on the network
_ADMIN = "pooler_admin"
_USERS = ("keepline_app", "keepline_worker", "keepline_migrate", _ADMIN)
_START_SECONDS = 20
_SETTINGS = """\
[databases]
keepline = host={server} port={server_port}
[pgbouncer]
unix_socket_dir = {folder}
listen_port = {port}
auth_type = trust
auth_file = {folder}/users
admin_users = {admin}
logfile = {folder}/log
pool_mode = {mode}
default_pool_size = {connections}
max_client_conn = 200
query_wait_timeout = 30
server_reset_query_always = {emptied}
"""


@dataclass(frozen=True)
class Pooler:
    """A running PgBouncer."""

    folder: Path

    def conninfo(self, role: str, database: str = "keepline") -> str:
        """Return the libpq connection string that logs in as `role` through the pooler."""
        return make_conninfo(host=str(self.folder), port=_PORT, user=role, dbname=database)

    @property
    def socket(self) -> Path:
        """The path of its socket."""
        return self.folder / f".s.PGSQL.{_PORT}"

    def log_in_anew(self) -> None:
        """Close the connections to the server, so that changed settings of roles count."""
        console = self.conninfo(_ADMIN, "pgbouncer")
        with psycopg.connect(console, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
            connection.execute("RECONNECT")
            connection.execute("WAIT_CLOSE")


@contextmanager
def pooler_server(
    server: Address, *, mode: PoolMode = "transaction", connections: int = 2, emptied: bool = False
) -> Iterator[Pooler]:
    """Start a PgBouncer in a short folder of its own, as the OS user that may enter the server's socket folder.

    Where its connections are `emptied`, they run DISCARD ALL after every transaction.
    """
    program = shutil.which("pgbouncer", path=f"{os.defpath}:/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    account = server_account(server.socket_folder)
    with tempfile.TemporaryDirectory(prefix="pooler-") as outer:
        folder = Path(outer) / "own"
        let_pass(account, folder)
        make_folder(account, folder)
        write_file(account, folder / "users", "".join(f'"{name}" ""\n' for name in _USERS))
        settings = _SETTINGS.format(
            server=server.socket_folder, server_port=server.port, folder=folder, port=_PORT, admin=_ADMIN,
            mode=mode, connections=connections, emptied=int(emptied),
        )  # fmt: skip
        write_file(account, folder / "settings", settings)
        with _started([program, "--quiet", str(folder / "settings")], account, Pooler(folder)) as pooler:
            yield pooler


@contextmanager
def _started(command: list[str], account: Account, pooler: Pooler) -> Iterator[Pooler]:
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=signal_on_parent_death(signal.SIGTERM),
        **account.process_options(),
    )
    try:
        end = time.monotonic() + _START_SECONDS
        while not pooler.socket.exists():
            assert process.poll() is None, (pooler.folder / "log").read_text("utf-8")
            assert time.monotonic() < end
            time.sleep(0.02)
        yield pooler
    finally:
        process.terminate()  # at once, whatever clients do
        process.wait(20)
