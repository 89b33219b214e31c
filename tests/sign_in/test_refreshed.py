"""What providers say, kept per process: one thread asks, nobody waits for long, and memory stays bounded."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic

import pytest

from tenancy.refreshed import NotAskedError, ProviderUnavailableError, Refreshed
from tests.clocked import CredentialClock


def moved(clock: CredentialClock, seconds: float) -> None:
    clock.ahead += type(clock.ahead)(seconds=seconds)


class Hanging:
    """Reads a new value each time, and hangs where it is told to until it is released."""

    def __init__(self) -> None:
        self.hangs = False
        self.asked = 0
        self.begun, self.released = threading.Event(), threading.Event()

    def read(self, issuer: str) -> str:
        self.asked += 1
        number = self.asked
        if self.hangs and issuer == "hanging":
            self.begun.set()
            self.released.wait(20)
        return f"{issuer} {number}"

    @contextmanager
    def asked_by_another_thread(self, refreshed: Refreshed[str]) -> Iterator[None]:
        self.hangs = True
        with ThreadPoolExecutor(1) as pool:
            pool.submit(refreshed.get, "hanging")
            assert self.begun.wait(10)
            try:
                yield
            finally:
                self.released.set()


def test_one_thread_asks_and_all_get_what_it_was_told() -> None:
    asked: list[str] = []
    release = threading.Event()

    def read(issuer: str) -> object:
        asked.append(issuer)
        release.wait(10)
        return object()

    refreshed = Refreshed(CredentialClock(), read)
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(refreshed.get, "https://a.example") for _ in range(8)]
        release.set()
        assert len({id(future.result(10)) for future in waiting}) == 1
    assert asked == ["https://a.example"]


def test_a_provider_that_hangs_holds_one_thread_and_the_others_wait_half_a_second_and_then_not_at_all() -> None:
    clock, hanging = CredentialClock(), Hanging()
    refreshed = Refreshed(clock, hanging.read)
    with hanging.asked_by_another_thread(refreshed):
        assert refreshed.get("other").startswith("other")
        began = monotonic()
        with pytest.raises(NotAskedError, match="takes long"):
            refreshed.get("hanging")
        assert 0.4 < monotonic() - began < 2
        moved(clock, 1)
        began = monotonic()
        for _ in range(100):
            with pytest.raises(NotAskedError, match="takes long"):
                refreshed.get("hanging")
            with pytest.raises(NotAskedError, match="takes long"):
                refreshed.get_newer("hanging", "known")
        assert monotonic() - began < 2
    assert refreshed.get("hanging") == "hanging 1"


@pytest.mark.parametrize(("age", "served"), [(3_601, True), (17_999, True), (18_001, False)])
def test_while_a_provider_is_asked_the_others_go_on_with_the_older_value_for_four_hours(age: int, served: bool) -> None:
    clock, hanging = CredentialClock(), Hanging()
    refreshed = Refreshed(clock, hanging.read)
    older = refreshed.get("hanging")
    moved(clock, age)
    with hanging.asked_by_another_thread(refreshed):
        began = monotonic()
        if served:
            assert {refreshed.get("hanging") for _ in range(100)} == {older}
        else:
            with pytest.raises(NotAskedError):
                refreshed.get("hanging")
        assert monotonic() - began < 2
    assert refreshed.get("hanging") == "hanging 2"


def test_an_older_value_counts_only_while_a_newer_one_is_being_read() -> None:
    """A key that the provider took back is not believed because the provider is away."""
    clock, away = CredentialClock(), []

    def read(issuer: str) -> str:
        if away:
            raise ProviderUnavailableError("It is away.")
        return issuer

    refreshed = Refreshed(clock, read)
    assert refreshed.get("a") == "a"
    away.append(True)
    moved(clock, 3_601)
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError, match="It is away"):
            refreshed.get("a")


def test_a_failure_is_answered_without_asking_for_three_seconds_and_longer_each_time_up_to_a_minute() -> None:
    clock, asked, away = CredentialClock(), [], [True]

    def read(issuer: str) -> str:
        asked.append(issuer)
        if away:
            moved(clock, 15)  # it takes that long to fail, and the pause begins afterwards
            raise ProviderUnavailableError("It is away.")
        return issuer

    refreshed = Refreshed(clock, read)

    def fails(count: int) -> None:
        with pytest.raises(ProviderUnavailableError, match="It is away"):
            refreshed.get("a")
        assert len(asked) == count

    fails(1)
    for count, pause in enumerate((3, 6, 12, 24, 48, 60, 60), start=1):
        moved(clock, pause - 0.1)
        fails(count)
        moved(clock, 0.2)
        fails(count + 1)
    away.clear()
    moved(clock, 60.1)
    assert refreshed.get("a") == "a"
    away.append(True)
    moved(clock, 3_601)
    fails(10)
    moved(clock, 3.1)
    fails(11)


def test_a_read_that_did_not_reach_the_provider_is_no_failure_of_it() -> None:
    answers = iter([NotAskedError("No place."), "value"])

    def read(_issuer: str) -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    refreshed = Refreshed(CredentialClock(), read)
    with pytest.raises(NotAskedError, match="No place"):
        refreshed.get("a")
    assert refreshed.get("a") == "value"


def test_a_value_is_kept_for_an_hour_and_a_newer_one_is_asked_for_every_ten_seconds() -> None:
    clock, values = CredentialClock(), iter(range(1_000, 2_000))
    refreshed = Refreshed(clock, lambda _issuer: next(values))
    known = refreshed.get("a")
    assert refreshed.get_newer("a", known) == known
    moved(clock, 10.1)
    newer = refreshed.get_newer("a", known)
    assert newer != known
    assert refreshed.get("a") == refreshed.get_newer("a", known) == newer
    moved(clock, 3_599)
    assert refreshed.get("a") == newer
    moved(clock, 2)
    assert refreshed.get("a") != newer


def test_what_is_known_stays_when_asking_for_something_newer_fails() -> None:
    clock, away = CredentialClock(), []

    def read(issuer: str) -> str:
        if away:
            raise ProviderUnavailableError("It is away.")
        return issuer

    refreshed = Refreshed(clock, read)
    known = refreshed.get("a")
    away.append(True)
    moved(clock, 11)
    assert refreshed.get_newer("a", known) == refreshed.get("a") == known


def test_values_of_at_most_a_thousand_issuers_are_kept() -> None:
    refreshed = Refreshed(CredentialClock(), lambda issuer: issuer)
    for number in range(2_500):
        assert refreshed.get(f"https://{number}.example") == f"https://{number}.example"
    assert len(refreshed._entries) <= 1_000
