"""What identity providers say, kept per process: read by one thread at a time and again when it is an hour old."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from tenancy.clock import Clock
from tenancy.errors import UnavailableError

Value = TypeVar("Value")

KEPT_SECONDS = 3600
OLDER_SECONDS = 4 * 3600
REREAD_SECONDS = 10
SLOW_SECONDS = 1.0
"""From when on whoever asks a provider counts as slow, so that nobody waits for them."""

_PATIENCE_SECONDS = 0.5
_PAUSES_SECONDS = (3, 6, 12, 24, 48, 60)
_AT_MOST = 1_000


class ProviderUnavailableError(UnavailableError):
    """The identity provider does not answer, or not as OpenID Connect asks."""

    code = "provider_unavailable"
    title = "The identity provider does not answer as it should"


class NotAskedError(ProviderUnavailableError):
    """The provider was not asked now: it failed a moment ago, or others are asking and take long."""


def pause_seconds(failures: int) -> int:
    """Return how long a provider is left alone after so many failures one after another: 3 s, then up to a minute."""
    return _PAUSES_SECONDS[min(failures, len(_PAUSES_SECONDS)) - 1]


def patience_seconds(asking_since: float | None, now: float) -> float:
    """Return how long to wait for whoever is asking: half a second, and not at all once they are slow."""
    return 0 if asking_since is not None and now - asking_since >= SLOW_SECONDS else _PATIENCE_SECONDS


@dataclass
class _Entry(Generic[Value]):
    value: Value | None = None
    good_until: float = 0.0
    asked_at: float = 0.0
    asking_since: float | None = None
    failed: str = ""
    failures: int = 0
    paused_until: float = 0.0
    lock: Lock = field(default_factory=Lock)


class Refreshed(Generic[Value]):
    """Keeps one value an issuer, for at most 1,000 issuers.

    A provider that hangs holds one thread and not all of them. While it is asked, the others go on with the value of
    before, for up to four hours after its hour; where there is none they wait for half a second at most. A failure is
    answered without asking again for 3 s, and for longer each time up to a minute.
    """

    def __init__(self, clock: Clock, read: Callable[[str], Value]) -> None:
        self._clock = clock
        self._read = read
        self._entries: dict[str, _Entry[Value]] = {}

    def get(self, issuer: str) -> Value:
        """Return the value, read if there is none or it is older than an hour.

        Raises:
            ProviderUnavailableError: it can't be read.
            NotAskedError: it could not be read a moment ago, or another thread is at it and there is no older value.

        """
        entry = self._entry(issuer)
        kept = self._kept(entry)
        if kept is not None:
            return kept
        older = self._kept(entry, OLDER_SECONDS)
        if not entry.lock.acquire(timeout=self._patience(entry) if older is None else 0):
            if older is not None:
                return older
            raise NotAskedError("The identity provider takes long to answer. Try again shortly.")
        try:
            kept = self._kept(entry)
            if kept is not None:
                return kept
            if entry.paused_until > self._now():
                raise NotAskedError(entry.failed)
            return self._read_into(entry, issuer)
        finally:
            entry.lock.release()

    def get_newer(self, issuer: str, known: Value) -> Value:
        """Return what was read after a known value, or the known one when there is nothing newer.

        There is nothing newer when the provider was asked less than 10 s ago or does not answer.

        Raises:
            NotAskedError: it is being asked and takes long, so that nobody knows yet.

        """
        entry = self._entry(issuer)
        if not entry.lock.acquire(timeout=self._patience(entry)):
            raise NotAskedError("The identity provider takes long to answer. Try again shortly.")
        try:
            if entry.value is not None and entry.value is not known:
                return entry.value
            if max(entry.asked_at + REREAD_SECONDS, entry.paused_until) > self._now():
                return known
            return self._read_into(entry, issuer)
        except NotAskedError:
            raise
        except ProviderUnavailableError:
            return known
        finally:
            entry.lock.release()

    def _read_into(self, entry: _Entry[Value], issuer: str) -> Value:
        entry.asking_since = self._now()
        try:
            value = self._read(issuer)
        except NotAskedError:  # says nothing about the provider
            raise
        except ProviderUnavailableError as error:
            entry.asked_at = self._now()
            entry.failed, entry.failures = error.detail, entry.failures + 1
            entry.paused_until = entry.asked_at + pause_seconds(entry.failures)
            raise
        finally:
            entry.asking_since = None
        entry.asked_at = self._now()
        entry.value, entry.good_until = value, entry.asked_at + KEPT_SECONDS
        entry.failures, entry.paused_until = 0, 0.0
        return value

    def _kept(self, entry: _Entry[Value], past_its_hour: float = 0) -> Value | None:
        return entry.value if entry.good_until + past_its_hour > self._now() else None

    def _patience(self, entry: _Entry[Value]) -> float:
        return patience_seconds(entry.asking_since, self._now())

    def _entry(self, issuer: str) -> _Entry[Value]:
        known = self._entries.get(issuer)
        if known is not None:
            return known
        if len(self._entries) >= _AT_MOST:
            self._entries.clear()
        return self._entries.setdefault(issuer, _Entry())

    def _now(self) -> float:
        return self._clock.credential_now().timestamp()
