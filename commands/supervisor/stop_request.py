"""Turns the signals that ask a process to stop into a question it can ask between two steps."""

import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

# A terminal that hangs up asks as well: the children are in sessions of their own and would not notice.
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

# make, shells and process managers pass one Ctrl-C on more than once, within milliseconds.
_ECHO_SECONDS = 0.5


class StopRequest:
    """Within its `with` block SIGTERM, SIGINT and SIGHUP are noted instead of ending the process.

    Only for the main thread (signal handlers can be set nowhere else). `clock` counts seconds, monotonically.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first_at: float | None = None
        self._hastened = False
        self._previous: list[tuple[signal.Signals, signal._HANDLER]] = []

    def __enter__(self) -> Self:
        self._previous = [(number, signal.signal(number, self._note)) for number in _SIGNALS]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous:
            signal.signal(number, handler)

    @property
    def made(self) -> bool:
        """Whether somebody has asked to stop."""
        return self._first_at is not None

    @property
    def hastened(self) -> bool:
        """Whether somebody pressed Ctrl-C again, half a second or more after the first request."""
        return self._hastened

    def _note(self, number: int, _frame: FrameType | None) -> None:
        now = self._clock()
        if self._first_at is None:
            self._first_at = now
        elif number == signal.SIGINT and now - self._first_at >= _ECHO_SECONDS:
            self._hastened = True
