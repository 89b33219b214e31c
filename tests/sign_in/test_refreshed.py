"""What providers say, kept per process: one thread asks, nobody waits for long, and memory stays bounded."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tenancy.refreshed import ProviderUnavailableError, Refreshed
from tests.clocked import CredentialClock


def moved(clock: CredentialClock, seconds: float) -> None:
    clock.ahead += type(clock.ahead)(seconds=seconds)


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


def test_a_provider_that_hangs_holds_one_thread_and_another_provider_is_served_meanwhile() -> None:
    release = threading.Event()

    def read(issuer: str) -> str:
        if issuer == "hanging":
            release.wait(20)
        return issuer

    refreshed = Refreshed(CredentialClock(), read)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(refreshed.get, "hanging")
        second = pool.submit(refreshed.get, "hanging")
        assert refreshed.get("other") == "other"
        with pytest.raises(ProviderUnavailableError, match="takes long"):
            second.result(15)
        release.set()
        assert first.result(10) == "hanging"


def test_a_failure_is_answered_for_three_seconds_without_asking() -> None:
    clock, asked = CredentialClock(), []

    def read(issuer: str) -> str:
        asked.append(issuer)
        raise ProviderUnavailableError("It is away.")

    refreshed = Refreshed(clock, read)
    for seconds, count in ((0, 1), (2.9, 1), (0.2, 2)):
        moved(clock, seconds)
        with pytest.raises(ProviderUnavailableError, match="It is away"):
            refreshed.get("https://a.example")
        assert len(asked) == count


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
