"""The process supervisor with real processes and real signals."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from commands.supervisor import Child, Supervisor

PROJECT = Path(__file__).parents[2]

# Notes in a file what happens to it; `sys.argv`: its name, the file, how it answers SIGTERM.
MEMBER = """
import os, signal, sys, time
name, file, manner = sys.argv[1:]
def note(what):
    with open(file, "a") as lines: lines.write(f"{name} {what}\\n")
def end(*_):
    note("told to stop")
    if manner == "slow": time.sleep(0.4)
    note("stopped")
    sys.exit()
signal.signal(signal.SIGTERM, signal.SIG_IGN if manner == "deaf" else end)
note(f"started {os.getpid()} {os.getsid(0)}")
while manner != "brief": time.sleep(0.05)
sys.exit(3)
"""

# A supervisor in a process of its own, with the members named in its arguments as name:manner:stage.
DRIVER = """
import sys
from pathlib import Path
from commands.supervisor import Child, Supervisor
member, file, *names = sys.argv[1:]
def child(name, manner, stage):
    started = lambda: f"{name} started" in Path(file).read_text()
    return Child(name, [sys.executable, "-c", member, name, file, manner], ready=started, stage=int(stage))
def ready():
    with open(file, "a") as lines: lines.write("all ready\\n")
sys.exit(Supervisor([child(*name.split(":")) for name in names], ready).run())
"""


class Notes:
    """The file the members write to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    @property
    def lines(self) -> list[str]:
        return self.path.read_text().splitlines()

    def member(self, name: str, manner: str = "calm") -> list[str]:
        return [sys.executable, "-c", MEMBER, name, str(self.path), manner]

    def number(self, name: str) -> int:
        return int(next(line for line in self.lines if line.startswith(f"{name} started")).split()[2])


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "notes")


@pytest.fixture
def drive(notes: Notes) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a supervisor in a process of its own and wait until all its members are ready."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*members: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, MEMBER, str(notes.path), *members],
            cwd=PROJECT,
        )
        started.append(process)
        wait_until(lambda: "all ready" in notes.lines)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
    for line in notes.lines:
        if " started " in line:
            with suppress(ProcessLookupError):
                os.kill(int(line.split()[2]), signal.SIGKILL)


def wait_until(holds: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.02)


def is_running(number: int) -> bool:
    try:
        # A process that ended but was not collected keeps its number; its command is gone.
        return Path(f"/proc/{number}/cmdline").read_bytes() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


def supervise(*children: Child, until: Callable[[], bool] = lambda: False, times: int = 4) -> tuple[int, list[str]]:
    """Run a supervisor here, its clock `times` as fast, until `until`; return exit code and sentences."""
    said: list[str] = []

    def tend() -> None:
        if until():
            os.kill(os.getpid(), signal.SIGTERM)

    supervisor = Supervisor(
        children,
        lambda: None,
        tend=tend,
        clock=lambda: time.monotonic() * times,
        sleep=lambda seconds: time.sleep(seconds / times),
        report=said.append,
    )
    return supervisor.run(), said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_all_in_reverse_order_with_exit_code_0(
    number: signal.Signals, notes: Notes, drive: Callable[..., subprocess.Popen[bytes]]
) -> None:
    supervisor = drive("second:calm:2", "first:slow:1")
    supervisor.send_signal(number)
    assert supervisor.wait(10) == 0
    acts = [" ".join(line.split()[:2]) for line in notes.lines]
    assert acts == [
        "first started",
        "second started",
        "all ready",
        "second told",
        "second stopped",
        "first told",
        "first stopped",
    ]


def test_a_stage_starts_when_the_one_before_is_ready(notes: Notes) -> None:
    seen: list[str] = []

    def first_is_ready() -> bool:
        if "first" not in " ".join(notes.lines):
            return False
        seen.extend(notes.lines)
        return True

    first = Child("first", notes.member("first"), ready=first_is_ready, stage=1)
    second = Child("second", notes.member("second"), stage=2)
    code, _ = supervise(second, first, until=lambda: any("second started" in line for line in notes.lines))
    assert code == 0
    assert [line.split()[0] for line in seen] == ["first"]


def test_children_of_one_stage_start_together(notes: Notes) -> None:
    """Each counts as ready when the other has started, so one after the other would never be."""

    def started(name: str) -> Callable[[], bool]:
        return lambda: any(line.startswith(f"{name} started") for line in notes.lines)

    left = Child("left", notes.member("left"), ready=started("right"))
    right = Child("right", notes.member("right"), ready=started("left"))
    assert supervise(left, right, until=lambda: True, times=5) == (0, [])


def test_children_lead_sessions_of_their_own_so_ctrl_c_in_a_terminal_passes_them_by(
    notes: Notes, drive: Callable[..., subprocess.Popen[bytes]]
) -> None:
    drive("web:calm:1")
    _, _, number, session = notes.lines[0].split()
    assert number == session


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent has died")
def test_kill_9_of_the_supervisor_ends_the_children_by_sigterm(
    notes: Notes, drive: Callable[..., subprocess.Popen[bytes]]
) -> None:
    supervisor = drive("web:calm:1", "worker:calm:1")
    numbers = [notes.number("web"), notes.number("worker")]
    supervisor.kill()
    supervisor.wait()
    wait_until(lambda: not any(is_running(number) for number in numbers))
    assert {"web stopped", "worker stopped"} <= set(notes.lines)


def test_the_same_ctrl_c_passed_on_twice_leaves_children_their_time(
    notes: Notes, drive: Callable[..., subprocess.Popen[bytes]]
) -> None:
    supervisor = drive("web:slow:1")
    supervisor.send_signal(signal.SIGINT)
    time.sleep(0.1)
    supervisor.send_signal(signal.SIGINT)
    assert supervisor.wait(10) == 0
    assert "web stopped" in notes.lines


def test_a_second_ctrl_c_kills_at_once(notes: Notes, drive: Callable[..., subprocess.Popen[bytes]]) -> None:
    supervisor = drive("web:deaf:1")
    supervisor.send_signal(signal.SIGINT)
    time.sleep(0.7)
    assert supervisor.poll() is None
    supervisor.send_signal(signal.SIGINT)
    assert supervisor.wait(2) == 0
    assert not is_running(notes.number("web"))


def test_a_child_that_does_not_stop_is_killed_after_20_seconds(notes: Notes) -> None:
    deaf = Child("deaf", notes.member("deaf", "deaf"), ready=lambda: bool(notes.lines))
    began: list[float] = []

    def until() -> bool:
        began.append(time.monotonic())
        return True

    code, said = supervise(deaf, until=until, times=20)
    assert time.monotonic() - began[0] >= 20 / 20
    assert code == 0
    assert said == ["deaf did not stop in time and was killed. What was committed is kept."]
    assert not is_running(notes.number("deaf"))


def test_a_child_that_dies_is_started_again_after_a_second(notes: Notes) -> None:
    killed_at: list[float] = []

    def until() -> bool:
        if notes.lines and not killed_at:
            os.kill(notes.number("worker"), signal.SIGKILL)
            killed_at.append(time.monotonic())
        return len(notes.lines) > 1

    code, said = supervise(Child("worker", notes.member("worker")), until=until, times=2)
    assert code == 0
    assert time.monotonic() - killed_at[0] >= 1 / 2
    assert said == ["worker ended unexpectedly (signal 9). It starts again in 1 s."]


def test_five_deaths_within_a_minute_stop_all(notes: Notes) -> None:
    brief = Child("worker", notes.member("worker", "brief"), ready=lambda: True, stage=2)
    calm = Child("web", notes.member("web"), ready=lambda: any("web" in line for line in notes.lines), stage=1)
    code, said = supervise(calm, brief, times=10)
    assert code == 1
    assert [sentence.rsplit(" in ")[-1] for sentence in said[:-1]] == ["1 s.", "2 s.", "4 s.", "8 s."]
    assert said[-1].startswith("worker ended 5 times within a minute (last: exit code 3)")
    assert "web stopped" in notes.lines


def test_what_a_dead_child_had_started_is_gone_before_it_starts_again(notes: Notes) -> None:
    """A server's own workers would keep its port."""
    program = f"import subprocess; subprocess.Popen({notes.member('deaf', 'deaf')!r}).wait()"
    killed = False

    def until() -> bool:
        nonlocal killed
        starts = [int(line.split()[2]) for line in notes.lines]
        if starts and not killed:
            # The member is in the session of the child that started it, whose leader is that child.
            os.kill(os.getsid(starts[0]), signal.SIGKILL)
            killed = True
        if len(starts) > 1:
            assert not is_running(starts[0])
        return len(starts) > 1

    code, _ = supervise(Child("web", [sys.executable, "-c", program]), until=until, times=40)
    assert code == 0
    wait_until(lambda: not any(is_running(int(line.split()[2])) for line in notes.lines))


def test_a_child_that_never_gets_ready_stops_all_with_a_sentence(notes: Notes) -> None:
    code, said = supervise(Child("web", notes.member("web"), ready=lambda: False), times=15)
    assert code == 1
    assert said[0].startswith("web did not become ready within 30 seconds")
    assert not is_running(notes.number("web"))


def test_a_child_that_ends_while_starting_stops_all_with_a_sentence(notes: Notes) -> None:
    calm = Child("worker", notes.member("worker"), ready=lambda: bool(notes.lines), stage=1)
    brief = Child("web", notes.member("web", "brief"), ready=lambda: False, stage=2)
    code, said = supervise(calm, brief)
    assert code == 1
    assert len(said) == 1
    assert said[0].startswith("web ended while starting (exit code 3), so everything is being stopped.")
    assert "worker stopped" in notes.lines


def test_a_failure_of_what_is_tended_stops_the_children(notes: Notes) -> None:
    def tend() -> None:
        raise RuntimeError("the database does not start")

    web = Child("web", notes.member("web"), ready=lambda: bool(notes.lines))
    with pytest.raises(RuntimeError, match="the database does not start"):
        Supervisor([web], lambda: None, tend=tend).run()
    assert "web stopped" in notes.lines
