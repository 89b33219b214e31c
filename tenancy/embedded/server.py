"""The embedded server: started as a child of this process, watched, stopped with it."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg
from psycopg import sql

from tenancy.embedded.access import let_pass, make_folder
from tenancy.embedded.account import Account, server_account
from tenancy.embedded.address import Address, choose_address, cluster_folder
from tenancy.embedded.cluster import SUPERUSER, configure, initialise, let_run, program
from tenancy.embedded.errors import EmbeddedServerError
from tenancy.embedded.lock import FolderLock
from tenancy.embedded.postmaster import FAST_SECONDS, IMMEDIATE_SECONDS, read_postmaster, stop_orphan
from tenancy.parent_death import signal_on_parent_death

# Recovery after a crash replays at most max_wal_size and is done in seconds; a slow disk gets its time.
_START_SECONDS = 120.0
# Back ends that outlive a killed postmaster end when they notice; until then no new one may start.
_LEFTOVER_SECONDS = 15.0
_POLL_SECONDS = 0.02
_MAX_LOG_BYTES = 10_000_000
_LOG_END_BYTES = 1500


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Turn what the system refuses into a sentence: no permission, a full disk, a file in the way."""
    try:
        yield
    except (OSError, psycopg.OperationalError) as error:
        raise EmbeddedServerError(
            f"The database server cannot be started on the data folder {folder}: {error}. "
            "The data was left as it is. Mend what the message names, then start again."
        ) from error


class EmbeddedServer:
    """The PostgreSQL server of one data folder.

    Start it from the main thread of a process that lives as long as the server shall: on Linux the server
    shuts down when that thread ends, even by kill -9. Methods raise EmbeddedServerError.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._cluster = cluster_folder(self._folder)
        self._log = self._folder / "postgres.log"
        self._lock = FolderLock(self._folder)
        self._process: subprocess.Popen[bytes] | None = None
        self._address: Address | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the server, making its cluster at the first start; returns when it accepts connections."""
        with _explained(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire()
        try:
            self._launch()
        except BaseException:
            self.stop()
            raise

    def ensure_running(self) -> None:
        """Start the server anew if it has died since `start`; cheap while it lives."""
        if self._process is not None and self._process.poll() is not None:
            self._launch()

    def stop(self) -> None:
        """Stop the server: open transactions are rolled back, what was committed is kept."""
        process = self._process
        if process is not None:
            for number, seconds in (
                (signal.SIGINT, FAST_SECONDS),  # "fast": disconnects, checkpoints
                (signal.SIGQUIT, IMMEDIATE_SECONDS),  # "immediate": leaves the rest to recovery
                (signal.SIGKILL, IMMEDIATE_SECONDS),
            ):
                process.send_signal(number)
                try:
                    process.wait(seconds)
                    break
                except subprocess.TimeoutExpired:
                    continue
            with suppress(OSError):
                self.address.socket_folder.rmdir()  # made anew by the next start
        self._process = None
        self._address = None
        self._lock.release()

    @property
    def address(self) -> Address:
        """Where the started server listens."""
        if self._address is None:
            raise EmbeddedServerError("The database server has not been started. Start it first.")
        return self._address

    def conninfo(self, role: str, database: str = "keepline") -> str:
        """Return the libpq connection string that logs in as `role` from any shell of the same OS user."""
        return self.address.conninfo(role, database)

    def create_database(self, name: str = "keepline") -> None:
        """Create the database `name`, empty and in UTF-8, unless it is there."""
        with psycopg.connect(self.conninfo(SUPERUSER, "postgres"), autocommit=True) as connection:
            if connection.execute("select from pg_database where datname = %s", [name]).fetchone() is None:
                # template0 holds nothing anyone could have added.
                statement = sql.SQL("create database {} template template0 encoding 'UTF8'")
                connection.execute(statement.format(sql.Identifier(name)))

    def _launch(self) -> None:
        with _explained(self._folder):
            self._prepare_and_start()

    def _prepare_and_start(self) -> None:
        account = server_account(self._cluster)
        let_run(account)
        let_pass(account, self._cluster)
        initialise(account, self._cluster)
        stop_orphan(account, self._cluster)
        address = choose_address(self._folder)
        let_pass(account, address.socket_folder)
        make_folder(account, address.socket_folder)
        # An earlier server's. The process number in it may be in use again; nobody else writes here.
        address.socket.with_name(f"{address.socket.name}.lock").unlink(missing_ok=True)
        configure(account, self._cluster, address.socket_folder)
        self._address = address
        end = time.monotonic() + _LEFTOVER_SECONDS
        while not self._start_once(account):
            if time.monotonic() > end or "pre-existing shared memory block" not in self._log_end():
                raise EmbeddedServerError(
                    f"The database server on {self._cluster} did not start. The data was left as it is. "
                    f"Mend what the end of {self._log} names, then start again:\n{self._log_end()}"
                )
            time.sleep(0.5)

    def _start_once(self, account: Account) -> bool:
        """Start the postmaster; tell whether it came to accept connections (it may die instead)."""
        log = self._open_log()
        try:
            process = subprocess.Popen(  # noqa: S603 - our own program and arguments
                [program("postgres"), "-D", self._cluster],
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in the terminal is for Keepline, which stops the server last
                preexec_fn=signal_on_parent_death(signal.SIGINT),
                **account.process_options(),
            )
        finally:
            os.close(log)
        self._process = process
        end = time.monotonic() + _START_SECONDS
        while process.poll() is None:
            postmaster = read_postmaster(self._cluster)
            if postmaster is not None and postmaster.process_id == process.pid and postmaster.ready:
                psycopg.connect(self.conninfo(SUPERUSER, "postgres"), connect_timeout=10).close()
                return True
            if time.monotonic() > end:
                raise EmbeddedServerError(
                    f"The database server on {self._cluster} was not ready after {_START_SECONDS:.0f} s "
                    "and was stopped. The data was left as it is. "
                    f"Mend what the end of {self._log} names, then start again:\n{self._log_end()}"
                )
            time.sleep(_POLL_SECONDS)
        return False

    def _open_log(self) -> int:
        if self._log.exists() and self._log.stat().st_size > _MAX_LOG_BYTES:
            self._log.replace(self._log.with_name(f"{self._log.name}.1"))
        return os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)

    def _log_end(self) -> str:
        with self._log.open("rb") as log:
            log.seek(max(0, self._log.stat().st_size - _LOG_END_BYTES))
            return log.read().decode(errors="replace").strip()
