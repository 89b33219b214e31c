"""The loop that starts, watches and stops the children."""

import sys
import time
from collections.abc import Callable, Sequence
from itertools import groupby

from commands.supervisor.child import Child, RunningChild
from commands.supervisor.stop_request import StopRequest

READY_SECONDS = 30.0
STOP_SECONDS = 20.0
_TICK_SECONDS = 0.05

# A child that dies again and again is not mended by starting it once more.
_MAX_DEATHS, _DEATHS_WITHIN_SECONDS = 5, 60.0

# The pause before a restart doubles from one second, and starts over once a child has lasted a minute.
_STEADY_SECONDS = 60.0
_MAX_BACK_OFF_SECONDS = 30.0


def say(sentence: str) -> None:
    """Write a sentence for the operator to standard error."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


class _SupervisionError(Exception):
    """Why everything is being stopped, in a sentence."""


class Supervisor:
    """Runs child processes until SIGTERM or Ctrl-C, or until one cannot be kept running.

    Children of one stage start together, a stage when the one before is ready; they stop in reverse order.
    `on_ready` is called once, when all are ready. `tend` is called on every round after that: it looks after
    what is not a child here, such as the database server, and an exception it raises stops everything.
    `stop` is given by a caller that has to note signals before the children start. `clock` counts seconds,
    monotonically. Construct and run it in the main thread: children end with the thread that started them.
    """

    def __init__(
        self,
        children: Sequence[Child],
        on_ready: Callable[[], None],
        *,
        tend: Callable[[], None] = lambda: None,
        stop: StopRequest | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        report: Callable[[str], None] = say,
    ) -> None:
        running = [RunningChild(child) for child in sorted(children, key=lambda child: child.stage)]
        self._stages = [list(stage) for _, stage in groupby(running, key=lambda one: one.child.stage)]
        self._on_ready = on_ready
        self._tend = tend
        self._stop = stop
        self._clock = clock
        self._sleep = sleep
        self._report = report

    def run(self) -> int:
        """Run until asked to stop; return the exit code: 0 when asked, 1 when a child cannot be kept up."""
        if self._stop is not None:
            return self._run(self._stop)
        with StopRequest(self._clock) as stop:
            return self._run(stop)

    def _run(self, stop: StopRequest) -> int:
        try:
            self._start(stop)
            if not stop.made:
                self._on_ready()
            self._watch(stop)
        except _SupervisionError as failure:
            self._report(str(failure))
            return 1
        finally:
            self._stop_all(stop)
        return 0

    def _start(self, stop: StopRequest) -> None:
        started: list[RunningChild] = []
        for stage in self._stages:
            if stop.made:
                return
            for one in stage:
                one.start(self._clock())
            started += stage
            self._wait_until_ready(stage, started, stop)

    def _wait_until_ready(self, stage: list[RunningChild], started: list[RunningChild], stop: StopRequest) -> None:
        end = self._clock() + READY_SECONDS
        waiting = stage
        while not stop.made:
            for one in started:
                if (code := one.exit_code()) is not None:
                    raise _SupervisionError(
                        f"{one.name} ended while starting ({describe(code)}), "
                        "so everything is being stopped. Its own output above says why."
                    )
            waiting = [one for one in waiting if not one.child.ready()]
            if not waiting:
                return
            if self._clock() >= end:
                names = " and ".join(one.name for one in waiting)
                raise _SupervisionError(
                    f"{names} did not become ready within {READY_SECONDS:.0f} seconds, "
                    "so everything is being stopped. The output above may say why; then start again."
                )
            self._sleep(_TICK_SECONDS)

    def _watch(self, stop: StopRequest) -> None:
        everyone = [one for stage in self._stages for one in stage]
        while not stop.made:
            self._tend()
            for one in everyone:
                self._revive(one)
            self._sleep(_TICK_SECONDS)

    def _revive(self, one: RunningChild) -> None:
        now = self._clock()
        if one.restart_at is not None:
            one.sweep()
            if now >= one.restart_at:
                one.start(now)
            return
        code = one.exit_code()
        if code is None:
            return
        one.deaths = [at for at in one.deaths if now - at < _DEATHS_WITHIN_SECONDS] + [now]
        if len(one.deaths) >= _MAX_DEATHS:
            raise _SupervisionError(
                f"{one.name} ended {_MAX_DEATHS} times within a minute (last: {describe(code)}), "
                "so everything is being stopped. Its own output above says why."
            )
        lasted = now - one.started_at
        one.pause = 1.0 if lasted >= _STEADY_SECONDS else min(max(1.0, 2 * one.pause), _MAX_BACK_OFF_SECONDS)
        one.restart_at = now + one.pause
        # What it started itself would keep its port and its files.
        one.terminate()
        self._report(f"{one.name} ended unexpectedly ({describe(code)}). It starts again in {one.pause:.0f} s.")

    def _stop_all(self, stop: StopRequest) -> None:
        for stage in reversed(self._stages):
            for one in stage:
                one.terminate()
            end = self._clock() + STOP_SECONDS
            while any(one.exit_code() is None for one in stage) and self._clock() < end and not stop.hastened:
                self._sleep(_TICK_SECONDS)
            for one in stage:
                if one.kill():
                    self._report(f"{one.name} did not stop in time and was killed. What was committed is kept.")


def describe(code: int) -> str:
    """Say an exit code in words: negative ones are signals, as subprocess has them."""
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
