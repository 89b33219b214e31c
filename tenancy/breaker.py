"""How many threads wait for identity providers: so few that one org's slow provider leaves the web to the others.

A process has 4 threads unless it is told otherwise. At most one of them reads what a provider publishes, also when it
examines one for an admin, and two ask token endpoints, each another issuer's: so one at least is always free.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore

from tenancy.clock import Clock
from tenancy.refreshed import (
    SLOW_SECONDS,
    NotAskedError,
    ProviderUnavailableError,
    patience_seconds,
    pause_seconds,
)

READS_AT_ONCE = 1
TOKEN_CALLS_AT_ONCE = 2
TOKEN_CALLS_OF_AN_ISSUER = 1
_ISSUERS_AT_MOST = 1_000


class Places:
    """Places for calls that may hang; whoever finds none free waits half a second, and not at all for slow calls."""

    def __init__(self, clock: Clock, at_once: int) -> None:
        self._clock = clock
        self._free = BoundedSemaphore(at_once)
        self._began: list[float] = []

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold a place.

        Raises:
            NotAskedError: none is free.

        """
        newest = max(self._began, default=None)
        if not self._free.acquire(timeout=patience_seconds(newest, self._now())):
            raise NotAskedError("Identity providers take long to answer at the moment. Try again shortly.")
        began = self._now()
        self._began.append(began)
        try:
            yield
        finally:
            self._began.remove(began)
            self._free.release()

    def _now(self) -> float:
        return self._clock.credential_now().timestamp()


@dataclass
class _Line:
    places: Places
    failures: int = 0
    paused_until: float = 0.0


class Breaker:
    """Lets calls to token endpoints through, few at once, and none for a while to an issuer that just failed slowly.

    A failure within a second holds nobody up and is not counted. After a slower one the issuer is left alone for
    3 s, and for longer each time up to a minute.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._places = Places(clock, TOKEN_CALLS_AT_ONCE)
        self._lines: dict[str, _Line] = {}

    @contextmanager
    def call(self, issuer: str) -> Iterator[None]:
        """Surround a call to an issuer's token endpoint.

        Raises:
            NotAskedError: the issuer is left alone for now, or too many calls are under way.

        """
        line = self._line(issuer)
        self._refuse_while_paused(line)
        with line.places.taken(), self._places.taken():
            self._refuse_while_paused(line)  # it may have failed while this one waited
            with self._watched(line):
                yield

    @contextmanager
    def _watched(self, line: _Line) -> Iterator[None]:
        began, unavailable = self._now(), False
        try:
            yield
        except ProviderUnavailableError:
            unavailable = True
            raise
        finally:
            if unavailable and self._now() - began >= SLOW_SECONDS:
                line.failures += 1
                line.paused_until = self._now() + pause_seconds(line.failures)
            else:
                line.failures = 0

    def _refuse_while_paused(self, line: _Line) -> None:
        if line.paused_until > self._now():
            raise NotAskedError("The identity provider did not answer a moment ago. Try again shortly.")

    def _line(self, issuer: str) -> _Line:
        known = self._lines.get(issuer)
        if known is not None:
            return known
        if len(self._lines) >= _ISSUERS_AT_MOST:
            self._lines.clear()
        return self._lines.setdefault(issuer, _Line(Places(self._clock, TOKEN_CALLS_OF_AN_ISSUER)))

    def _now(self) -> float:
        return self._clock.credential_now().timestamp()
