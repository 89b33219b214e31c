"""The lock that keeps two Keeplines off one data folder."""

import fcntl
import os
from pathlib import Path

from tenancy.embedded.errors import EmbeddedServerError


class FolderLock:
    """Held by at most one process; the system lets go of it when that process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "keepline.lock"
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock; raises EmbeddedServerError, naming the process, when another one has it."""
        if self._handle is not None:
            raise EmbeddedServerError(
                f"This process has already started the database server of {self._path.parent}. "
                "It was left running. Stop it first."
            )
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 32).decode(errors="replace").strip()
            os.close(handle)
            named = f"process {holder}" if holder else "a process that is just starting"
            raise EmbeddedServerError(
                f"Keepline already runs on the data folder {self._path.parent} ({named}). "
                "It was left running. Stop it first, or set KEEPLINE_DATA_DIR to another folder."
            ) from None
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        self._handle = handle

    def release(self) -> None:
        """Let go of the lock; the file stays, since removing it could hand two processes a lock each."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
