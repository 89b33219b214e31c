"""One child process of the supervisor, with the processes that it starts itself."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tenancy.parent_death import signal_on_parent_death


@dataclass(frozen=True)
class Child:
    """What to run: a name for the operator, the command, its whole environment, its place in the order.

    `ready` tells whether it does its work yet. It is asked often, so it must answer within a second, and it
    raises nothing. `env` None means the environment of the supervisor.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] | None = None
    ready: Callable[[], bool] = lambda: True
    stage: int = 0


@dataclass
class RunningChild:
    """A child and what has become of it.

    `started_at`, `deaths` and `restart_at` are readings of the supervisor's clock; `pause` is in seconds.
    """

    child: Child
    deaths: list[float] = field(default_factory=list)
    restart_at: float | None = None
    started_at: float = 0.0
    pause: float = 0.0
    _process: subprocess.Popen[bytes] | None = None
    _group: int | None = None

    @property
    def name(self) -> str:
        """The child's name."""
        return self.child.name

    def start(self, now: float) -> None:
        """Start the process; its output goes where ours goes."""
        self._signal_group(signal.SIGKILL)
        self.restart_at = None
        self.started_at = now
        self._process = subprocess.Popen(  # noqa: S603 - the caller's own command
            list(self.child.argv),
            env=self.child.env,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the supervisor alone, which stops the rest in order
            preexec_fn=signal_on_parent_death(signal.SIGTERM),
        )
        self._group = self._process.pid

    def exit_code(self) -> int | None:
        """Return None while the process runs, else its exit code (negative: the signal that ended it)."""
        return 0 if self._process is None else self._process.poll()

    def terminate(self) -> None:
        """Ask the process to stop, or what it left behind if it has ended; does not wait."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
        else:
            self._signal_group(signal.SIGTERM)

    def kill(self) -> bool:
        """End the process and all it has started; tell whether it was still running."""
        running = self._process is not None and self._process.poll() is None
        self._signal_group(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        self._process = self._group = None
        return running

    def sweep(self) -> None:
        """Forget the group of an ended process once it is empty, before its number is used again."""
        self._signal_group(0)

    def _signal_group(self, number: int) -> None:
        # The session's first process leads a group of the same number, which lasts while any member does.
        if self._group is not None:
            try:
                os.killpg(self._group, number)
            except (ProcessLookupError, PermissionError):
                self._group = None
