"""Waiting between rounds of work, ended at once by SIGTERM or Ctrl-C."""

import signal
import threading
from collections.abc import Callable


def repeat_until_stopped(act: Callable[[], None], pause_seconds: float) -> None:
    """Act, pause and act again until a signal asks to stop; a round under way is finished first."""
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    while not stopped.is_set():
        act()
        stopped.wait(pause_seconds)
