"""Ties a child process to its parent, so that a killed parent leaves nothing behind."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

# From linux/prctl.h: the signal a process gets when the thread that forked it ends.
_PR_SET_PDEATHSIG = 1

# Loaded here and not after the fork: between fork and exec nothing may import or take a lock.
_prctl = ctypes.CDLL(None, use_errno=True).prctl if sys.platform == "linux" else None


def signal_on_parent_death(number: signal.Signals) -> Callable[[], None] | None:
    """Return a `preexec_fn` that has the kernel send `number` to the child when its parent ends.

    subprocess runs it after it has switched user, which is needed: a change of user clears the setting.
    The kernel watches the *thread* that starts the child, so start children from the main thread.
    None where the system has no such setting (only Linux has): there a killed parent leaves its children.
    """
    if _prctl is None:
        return None
    prctl, parent = _prctl, os.getpid()

    def request_signal() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        # The parent may have ended before the request; then the signal would never come.
        if os.getppid() != parent:
            os._exit(128 + number)

    return request_signal
