"""A small memory of a process: values that may be used again for a number of seconds of real time."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from tenancy.clock import Clock

Value = TypeVar("Value")
_AT_MOST = 10_000


class Remembered(Generic[Value]):
    """Keeps at most 10,000 values; when there are more it forgets all, which costs time and nothing else."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, Value]] = {}

    def recall(self, key: Hashable) -> Value | None:
        """Return what is kept under the key, or None when there is nothing or its time is over."""
        kept = self._kept.get(key)
        return kept[1] if kept is not None and kept[0] > self._now() else None

    def keep(self, key: Hashable, value: Value, seconds: float) -> Value:
        """Keep the value for a number of seconds and return it."""
        if len(self._kept) >= _AT_MOST:
            self._kept.clear()
        self._kept[key] = (self._now() + seconds, value)
        return value

    def _now(self) -> float:
        return self._clock.credential_now().timestamp()
