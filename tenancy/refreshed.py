"""What identity providers say, kept per process: read by one thread at a time and again when it is an hour old."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from tenancy.clock import Clock
from tenancy.errors import UnavailableError

Value = TypeVar("Value")

KEPT_SECONDS = 3600
REREAD_SECONDS = 10
FAILURE_SECONDS = 3
_PATIENCE_SECONDS = 5.0
_AT_MOST = 1_000


class ProviderUnavailableError(UnavailableError):
    """The identity provider does not answer, or not as OpenID Connect asks."""

    code = "provider_unavailable"
    title = "The identity provider does not answer as it should"


@dataclass
class _Entry(Generic[Value]):
    value: Value | None = None
    good_until: float = 0.0
    read_at: float = 0.0
    failed: str | None = None
    lock: Lock = field(default_factory=Lock)


class Refreshed(Generic[Value]):
    """Keeps one value an issuer, for at most 1,000 issuers.

    A provider that hangs holds one thread and not all of them: the others wait at most 5 s, and a failure is answered
    for 3 s without asking again.
    """

    def __init__(self, clock: Clock, read: Callable[[str], Value]) -> None:
        self._clock = clock
        self._read = read
        self._entries: dict[str, _Entry[Value]] = {}

    def get(self, issuer: str) -> Value:
        """Return the value, read if there is none or it is older than an hour.

        Raises:
            ProviderUnavailableError: it can't be read, or another thread is at it for too long.

        """
        entry = self._entry(issuer)
        kept = self._good(entry)
        if kept is not None:
            return kept
        if not entry.lock.acquire(timeout=_PATIENCE_SECONDS):
            raise ProviderUnavailableError("The identity provider takes long to answer. Try again shortly.")
        try:
            kept = self._good(entry)
            if kept is not None:
                return kept
            if entry.failed is not None and entry.read_at + FAILURE_SECONDS > self._now():
                raise ProviderUnavailableError(entry.failed)
            return self._read_into(entry, issuer)
        finally:
            entry.lock.release()

    def get_newer(self, issuer: str, known: Value) -> Value:
        """Return what was read after a known value, or the known one when there is nothing newer.

        There is nothing newer when the provider was asked less than 10 s ago, does not answer, or keeps another
        thread waiting for too long.
        """
        entry = self._entry(issuer)
        if not entry.lock.acquire(timeout=_PATIENCE_SECONDS):
            return known
        try:
            if entry.value is not None and entry.value is not known:
                return entry.value
            if entry.read_at + REREAD_SECONDS > self._now():
                return known
            return self._read_into(entry, issuer)
        except ProviderUnavailableError:
            return known
        finally:
            entry.lock.release()

    def _read_into(self, entry: _Entry[Value], issuer: str) -> Value:
        entry.read_at = self._now()
        try:
            value = self._read(issuer)
        except ProviderUnavailableError as error:
            entry.failed = error.detail
            raise
        entry.value, entry.failed = value, None
        entry.good_until = self._now() + KEPT_SECONDS
        return value

    def _good(self, entry: _Entry[Value]) -> Value | None:
        return entry.value if entry.good_until > self._now() else None

    def _entry(self, issuer: str) -> _Entry[Value]:
        known = self._entries.get(issuer)
        if known is not None:
            return known
        if len(self._entries) >= _AT_MOST:
            self._entries.clear()
        return self._entries.setdefault(issuer, _Entry())

    def _now(self) -> float:
        return self._clock.credential_now().timestamp()
