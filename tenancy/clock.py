"""Where the time comes from: injected everywhere, so that tests and the demo can move it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """The two times of Keepline: what is stored may be moved by the demo, credentials never are."""

    def now(self) -> datetime:
        """Return the time of stored things, staleness and retention, in UTC."""

    def credential_now(self) -> datetime:
        """Return the real time, which tokens and sessions live by, in UTC."""


def _system_time() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - this is the clock that everything else is given


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the machine's time in UTC."""
        return _system_time()

    def credential_now(self) -> datetime:
        """Return the machine's time in UTC."""
        return _system_time()


class ShiftedClock:
    """The demo's clock: the machine's, moved by the number of seconds written in a file.

    The file is read again whenever its modification time changes, so that `keepline demo clock`
    moves every running process at once. No file means no shift.
    """

    def __init__(self, shift_file: Path, system_time: Callable[[], datetime] = _system_time) -> None:
        self._file = shift_file
        self._system_time = system_time
        self._seen: int | None = None
        self._shift = timedelta(0)

    def now(self) -> datetime:
        """Return the machine's time in UTC, moved by the demo's shift."""
        return self._system_time() + self._current_shift()

    def credential_now(self) -> datetime:
        """Return the machine's time in UTC, never moved."""
        return self._system_time()

    def _current_shift(self) -> timedelta:
        try:
            changed = self._file.stat().st_mtime_ns
        except FileNotFoundError:
            self._seen, self._shift = None, timedelta(0)
        else:
            if changed != self._seen:
                self._shift = read_shift(self._file)
                self._seen = changed
        return self._shift


def read_shift(file: Path) -> timedelta:
    """Return the shift that a file holds; none for no file or one that can't be read."""
    try:
        return timedelta(seconds=float(file.read_text("ascii")))
    except (OSError, ValueError, OverflowError):
        return timedelta(0)
