"""Providers that take long or fail: the threads they hold are few, and the web goes on for everybody else."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from time import monotonic

import pytest
from bendable_provider import BendableProvider
from flask import Response

from tenancy.breaker import Breaker, Places
from tenancy.oidc import OpenIDProviders, ProviderUnavailableError, SignedIn
from tenancy.refreshed import NotAskedError
from tests.clocked import ClockedApp, CredentialClock
from tests.world import World


def refresh(keepline: ClockedApp) -> SignedIn:
    known = keepline.services.directory.find_sign_in_provider("cedar")
    assert known is not None
    return keepline.services.providers.refresh(known, "first", "u-7")


def fail(breaker: Breaker, clock: CredentialClock, issuer: str, seconds: float) -> None:
    def ask() -> None:
        clock.ahead += timedelta(seconds=seconds)
        raise ProviderUnavailableError("It is away.")

    with pytest.raises(ProviderUnavailableError, match="It is away"), breaker.call(issuer):
        ask()


@contextmanager
def hanging(provider: BendableProvider) -> Iterator[threading.Semaphore]:
    """Make the token endpoint hang until the end; the semaphore counts the calls that arrived."""
    arrived, released = threading.Semaphore(0), threading.Event()

    def hang() -> None:
        arrived.release()
        released.wait(20)

    provider.before_signing = hang
    try:
        yield arrived
    finally:
        released.set()


def test_a_token_endpoint_that_hangs_holds_one_thread_and_all_others_are_told_at_once(
    provider: BendableProvider, clocked: ClockedApp
) -> None:
    with ThreadPoolExecutor(1) as pool, hanging(provider) as arrived:
        held = [pool.submit(refresh, clocked)]
        assert all(arrived.acquire(timeout=10) for _ in held)
        clocked.move(1)
        began = monotonic()
        for _ in range(8):
            with pytest.raises(NotAskedError):
                refresh(clocked)
        answer = provider.sign_in(clocked.app)[1]
        assert (answer.status_code, "Retry-After" in answer.headers) == (503, True)
        assert monotonic() - began < 2
    assert len(provider.exchanges) == 1
    assert [future.result(10).claims["sub"] for future in held] == ["u-7"]
    assert refresh(clocked).claims["sub"] == "u-7"


def test_after_a_slow_failure_the_token_endpoint_is_left_alone(provider: BendableProvider, clocked: ClockedApp) -> None:
    refresh(clocked)
    provider.token_reply = Response("", 503)
    provider.before_signing = lambda: clocked.move(14)
    with pytest.raises(ProviderUnavailableError):
        refresh(clocked)
    provider.token_reply, provider.before_signing = None, lambda: None
    with pytest.raises(NotAskedError):
        refresh(clocked)
    assert len(provider.exchanges) == 2
    clocked.move(3)
    assert refresh(clocked).claims["sub"] == "u-7"


def test_a_failure_that_came_at_once_leaves_nobody_waiting(provider: BendableProvider, clocked: ClockedApp) -> None:
    provider.token_reply = Response("", 503)
    for _ in range(5):
        with pytest.raises(ProviderUnavailableError):
            refresh(clocked)
    provider.token_reply = None
    assert refresh(clocked).claims["sub"] == "u-7"


def test_each_slow_failure_pauses_its_issuer_for_longer_up_to_a_minute_and_no_other() -> None:
    clock = CredentialClock()
    breaker = Breaker(clock)
    for pause in (3, 6, 12, 24, 48, 60, 60):
        fail(breaker, clock, "slow", 15)
        clock.ahead += timedelta(seconds=pause - 0.1)
        with pytest.raises(NotAskedError), breaker.call("slow"):
            raise AssertionError("asked")
        with breaker.call("other"):
            pass
        clock.ahead += timedelta(seconds=0.2)
    with breaker.call("slow"):
        pass
    fail(breaker, clock, "slow", 15)
    clock.ahead += timedelta(seconds=3.1)
    with breaker.call("slow"):
        pass


def test_token_endpoints_of_all_issuers_together_hold_two_threads() -> None:
    clock = CredentialClock()
    breaker = Breaker(clock)
    with ExitStack() as held:
        for issuer in ("a", "b"):
            held.enter_context(breaker.call(issuer))
        clock.ahead += timedelta(seconds=1)
        with pytest.raises(NotAskedError), breaker.call("c"):
            raise AssertionError("asked")
    with breaker.call("c"), breaker.call("a"):
        pass


def test_whoever_finds_no_place_waits_half_a_second_for_quick_calls() -> None:
    places = Places(CredentialClock(), 1)
    taken, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with places.taken():
            taken.set()
            leave.wait(10)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        assert taken.wait(10)
        began = monotonic()
        with pytest.raises(NotAskedError), places.taken():
            raise AssertionError("two at once")
        assert 0.4 < monotonic() - began < 2
        threading.Timer(0.1, leave.set).start()
        with places.taken():
            pass


def test_breakers_of_at_most_a_thousand_issuers_are_kept() -> None:
    breaker = Breaker(CredentialClock())
    for number in range(2_500):
        with breaker.call(f"https://{number}.example"):
            pass
    assert len(breaker._lines) <= 1_000


def test_one_provider_is_read_or_examined_at_a_time(world: World) -> None:
    """Each read of what a provider publishes holds a thread while a name server or a host hangs."""
    clock, asked, released = CredentialClock(), threading.Semaphore(0), threading.Event()

    def resolve(_host: str, _port: int) -> list[str]:
        asked.release()
        released.wait(4)
        return []

    providers = OpenIDProviders(
        clock, world.app.extensions["keepline"].sessions.box, allow_loopback=False, resolve=resolve
    )
    issuers = [f"https://{number}.example" for number in range(4)]
    with ThreadPoolExecutor(1) as pool:
        held = [pool.submit(providers.examine, issuers[0])]
        assert all(asked.acquire(timeout=3) for _ in held)
        clock.ahead += timedelta(seconds=1)
        began = monotonic()
        for ask in (providers.examine, providers._discovery.keys):
            with pytest.raises(NotAskedError):
                ask(issuers[3])
        assert monotonic() - began < 2
        released.set()
    assert not held[0].result()[-1].ok
    clock.ahead += timedelta(seconds=1)
    assert not providers.examine(issuers[3])[-1].ok
