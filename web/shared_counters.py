"""Counters that all worker processes of one machine share: a storage for `limits`, made before they are forked."""

import fcntl
import mmap
import os
import secrets
import struct
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

from limits.storage import Storage

from tenancy.clock import SystemClock
from tenancy.setting_values import SHARED_MEMORY

_SLOTS_IN_BUCKET = 8
_BUCKETS = 8_192
_OWNER_BYTES = 16
_SLOT = struct.Struct(f"={_OWNER_BYTES}sQd")  # whose counter, its count, the monotonic time at which it ends
_BUCKET = struct.Struct("=" + _SLOT.format.lstrip("=") * _SLOTS_IN_BUCKET)
_COUNT = struct.Struct("=Q")


class SharedCounters(Storage):
    """Exact counters in anonymous memory that forked processes share.

    There is room for 65,536 counters, 2 MiB. A key belongs to one bucket of eight slots. Where all eight are counting,
    the new key takes the slot with the lowest count: a flood of new keys pushes out one another, not the callers
    that are near their limit.

    The lock between processes is the kernel's, on a file without a name: it falls free when its holder is killed,
    however it is killed. Make the storage in the process that forks the others, and before it serves: a thread that
    held the lock then would leave it held in the child.
    """

    STORAGE_SCHEME = [SHARED_MEMORY.removesuffix("://")]  # noqa: RUF012 - how limits finds a storage by its address

    def __init__(self, uri: str | None = None, wrap_exceptions: bool = False, **options: float | str | bool) -> None:
        super().__init__(uri, wrap_exceptions, **options)
        self._memory = mmap.mmap(-1, _BUCKETS * _BUCKET.size)
        self._lock_file, name = tempfile.mkstemp(prefix="keepline-limits-")
        os.unlink(name)
        weakref.finalize(self, os.close, self._lock_file)
        self._lock = threading.Lock()
        # Keyed, so that nobody can choose keys that meet in one bucket.
        self._hash_key = secrets.token_bytes(16)

    @property
    def base_exceptions(self) -> type[Exception] | tuple[type[Exception], ...]:
        """Return what the kernel's lock may raise."""
        return OSError

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Count, and return the count; a key's first count opens its window of `expiry` seconds."""
        owner, bucket = self._place(key)
        with self._alone():
            now = time.monotonic()
            owners, counts, ends = self._slots(bucket)
            slot = owners.index(owner) if owner in owners else None
            if slot is not None and ends[slot] > now:
                count: int = counts[slot] + amount
                _COUNT.pack_into(self._memory, _offset(bucket, slot) + _OWNER_BYTES, count)
                return count
            if slot is None:
                slot = min(range(_SLOTS_IN_BUCKET), key=lambda other: counts[other] if ends[other] > now else 0)
            self._write(bucket, slot, _SLOT.pack(owner, amount, now + expiry))
            return amount

    def get(self, key: str) -> int:
        """Return the count, 0 where nothing is counted."""
        return self._find(key)[0]

    def get_expiry(self, key: str) -> float:
        """Return when the key's window ends, in seconds since the epoch."""
        return SystemClock().credential_now().timestamp() + self._find(key)[1]

    def check(self) -> bool:
        """Return that the storage answers."""
        return True

    def reset(self) -> int:
        """Forget every counter, and return how many were counting."""
        with self._alone():
            now = time.monotonic()
            counting = sum(end > now for bucket in range(_BUCKETS) for end in self._slots(bucket)[2])
            self._memory[:] = bytes(len(self._memory))
        return counting

    def clear(self, key: str) -> None:
        """Forget one counter."""
        owner, bucket = self._place(key)
        with self._alone():
            owners, *_ = self._slots(bucket)
            if owner in owners:
                self._write(bucket, owners.index(owner), bytes(_SLOT.size))

    def _find(self, key: str) -> tuple[int, float]:
        """Return a key's count and the seconds left of its window."""
        owner, bucket = self._place(key)
        with self._alone():
            owners, counts, ends = self._slots(bucket)
        left = ends[owners.index(owner)] - time.monotonic() if owner in owners else 0.0
        return (counts[owners.index(owner)], left) if left > 0 else (0, 0.0)

    def _place(self, key: str) -> tuple[bytes, int]:
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_OWNER_BYTES, key=self._hash_key).digest()
        return digest, int.from_bytes(digest[:4], "big") % _BUCKETS

    def _slots(self, bucket: int) -> tuple[tuple[bytes, ...], tuple[int, ...], tuple[float, ...]]:
        """Return the owners, counts and ends of a bucket's slots; no owner has two."""
        values: tuple[Any, ...] = _BUCKET.unpack_from(self._memory, _offset(bucket, 0))
        return values[::3], values[1::3], values[2::3]

    def _write(self, bucket: int, slot: int, content: bytes) -> None:
        start = _offset(bucket, slot)
        self._memory[start : start + _SLOT.size] = content

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock of this process's threads, then that of the processes; the kernel's does not part threads."""
        with self._lock:
            fcntl.lockf(self._lock_file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.lockf(self._lock_file, fcntl.LOCK_UN)


def _offset(bucket: int, slot: int) -> int:
    return bucket * _BUCKET.size + slot * _SLOT.size
