"""Processes that count together as the web's workers do, some of them killed meanwhile; prints what was counted.

A program of its own, because a process that runs tests has threads, and such a process does not fork well.
"""

import json
import mmap
import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable

from web.shared_counters import SharedCounters

WORKERS, THREADS, TIMES, VICTIMS = 4, 3, 1_500, 6
WINDOW = 3_600.0


def start(work: Callable[[], None]) -> int:
    """Fork a process that does the work and ends, and return its id."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def main() -> None:
    """Count exactly, lose no more than the killed were about to count, and wait for nobody who is dead."""
    storage = SharedCounters()
    acknowledged = mmap.mmap(-1, 8 * VICTIMS)

    def count_in_threads() -> None:
        threads = [
            threading.Thread(target=lambda: [storage.incr("kept", WINDOW) for _ in range(TIMES)])
            for _ in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def count_for_ever(place: int) -> None:
        for number in range(1, sys.maxsize):
            storage.incr("broken off", WINDOW)
            struct.pack_into("=Q", acknowledged, 8 * place, number)

    workers = [start(count_in_threads) for _ in range(WORKERS)]
    for place in range(VICTIMS):
        victim = start(lambda place=place: count_for_ever(place))  # type: ignore[misc] # the default binds the place
        while struct.unpack_from("=Q", acknowledged, 8 * place) < (20 + place,):
            time.sleep(0.001)
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
    for worker in workers:
        os.waitpid(worker, 0)

    reading, writing = os.pipe()

    def hold_the_lock() -> None:
        with storage._alone():
            os.write(writing, b"held")
            time.sleep(3_600)

    holder = start(hold_the_lock)
    os.read(reading, 4)
    os.kill(holder, signal.SIGKILL)
    began = time.monotonic()
    after = storage.incr("kept", WINDOW)
    waited = time.monotonic() - began
    os.waitpid(holder, 0)
    counted = sum(struct.unpack(f"={VICTIMS}Q", acknowledged[:]))
    found = {"after": after, "waited": waited, "broken_off": storage.get("broken off"), "counted": counted}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
