"""The postmaster of a cluster: what it says about itself, and how one without a parent is stopped."""

import os
import platform
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tenancy.embedded.access import write_file
from tenancy.embedded.account import Account
from tenancy.embedded.errors import EmbeddedServerError

FAST_SECONDS = 30.0
IMMEDIATE_SECONDS = 10.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Postmaster:
    """What a postmaster wrote about itself (PostgreSQL source, `miscadmin.h`, lines of postmaster.pid)."""

    process_id: int
    socket_folder: Path
    port: int
    ready: bool


def read_postmaster(cluster: Path) -> Postmaster | None:
    """Return what `postmaster.pid` says, or None when there is none or it is not fully written yet."""
    try:
        lines = (cluster / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        return Postmaster(int(lines[0]), Path(lines[4]), int(lines[3]), lines[7].strip() == "ready")
    except (FileNotFoundError, IndexError, ValueError):
        return None


def stop_orphan(account: Account, cluster: Path) -> None:
    """Stop the postmaster that a killed Keepline left behind, and make way for a new one.

    Raises EmbeddedServerError when it cannot be stopped. The caller holds the lock of the data folder.
    """
    file = cluster / "postmaster.pid"
    try:
        text = file.read_text(encoding="utf-8")
        process_id = int(text.split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return
    for number, seconds in ((signal.SIGINT, FAST_SECONDS), (signal.SIGQUIT, IMMEDIATE_SECONDS)):
        if _is_postmaster(process_id, cluster):
            _signal(process_id, number)
            _wait_for_end(process_id, cluster, seconds)
    if _is_postmaster(process_id, cluster):
        raise EmbeddedServerError(
            f"An earlier database server still runs on {cluster} (process {process_id}) and does not stop. "
            f"Nothing was changed. Stop it with kill -QUIT {process_id}, then start again."
        )
    if file.exists() and _exists(process_id):
        # The number now belongs to another process, which PostgreSQL would take for the old server; its own
        # parent's number it passes over. The other lines stay: they lead it to back ends that are left.
        write_file(account, file, "\n".join([str(os.getpid()), *text.split("\n")[1:]]))


def _signal(process_id: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        try:
            os.kill(process_id, number)
        except PermissionError:
            raise EmbeddedServerError(
                f"A database server of another user runs on this data folder (process {process_id}). "
                "It was left running. Stop it as that user, then start again."
            ) from None


def _wait_for_end(process_id: int, cluster: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and _is_postmaster(process_id, cluster):
        time.sleep(_POLL_SECONDS)


def _exists(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _is_postmaster(process_id: int, cluster: Path) -> bool:
    """Tell whether the process runs PostgreSQL on `cluster`; numbers are used again, so its command decides.

    A process that has ended but was not collected has no command any more.
    """
    words = _command(process_id)
    if not words or Path(words[0]).name != "postgres" or "-D" not in words[:-1]:
        return False
    named = Path(words[words.index("-D") + 1])
    # A folder moved while its server ran: the name tells nothing, and a second server would ruin the data.
    return not named.exists() or named.samefile(cluster)


def _command(process_id: int) -> list[str]:
    if platform.system() == "Linux":
        try:
            return os.fsdecode(Path(f"/proc/{process_id}/cmdline").read_bytes()).split("\0")[:-1]
        except (FileNotFoundError, ProcessLookupError):
            return []
    listed = subprocess.run(  # noqa: S603 - fixed arguments and a number
        ["/bin/ps", "-o", "command=", "-p", str(process_id)], capture_output=True, text=True, check=False
    )
    program, found, named = listed.stdout.strip().partition(" -D ")
    return [program, "-D", named] if found else [program]
