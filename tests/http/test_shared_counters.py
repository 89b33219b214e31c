"""Counters that processes share: exact, bounded, and never held by somebody who is dead."""

import json
import subprocess
import sys
import time

from counting_processes import THREADS, TIMES, VICTIMS, WORKERS

from tenancy.clock import SystemClock
from tenancy.settings import PROJECT_FOLDER
from web.shared_counters import SharedCounters


def test_forked_processes_count_exactly_and_a_killed_one_blocks_nobody() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.http.counting_processes"],
        cwd=PROJECT_FOLDER, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    counted = json.loads(ran.stdout)
    assert counted["after"] == WORKERS * THREADS * TIMES + 1
    assert counted["waited"] < 5
    # Each of the killed may have counted once more than it could say.
    assert counted["counted"] <= counted["broken_off"] <= counted["counted"] + VICTIMS
    assert counted["counted"] >= 20 * VICTIMS


def test_a_window_begins_with_the_first_count_and_ends() -> None:
    storage = SharedCounters()
    assert [storage.incr("a", 0.2) for _ in range(3)] == [1, 2, 3]
    assert storage.incr("b", 60) == 1
    assert storage.get("a") == 3
    left = storage.get_expiry("a") - SystemClock().credential_now().timestamp()
    assert 0 < left <= 0.2
    time.sleep(0.25)
    assert storage.get("a") == 0
    assert storage.incr("a", 60) == 1
    assert storage.get("b") == 1


def test_counters_are_forgotten_one_by_one_or_all() -> None:
    storage = SharedCounters()
    for key in ("a", "b", "c", "c"):
        storage.incr(key, 60)
    storage.clear("a")
    assert [storage.get(key) for key in "abc"] == [0, 1, 2]
    assert storage.reset() == 2
    assert [storage.get(key) for key in "abc"] == [0, 0, 0]
    assert storage.check()


def test_a_flood_of_new_keys_pushes_out_one_another_and_not_who_is_near_a_limit() -> None:
    """Twice as many keys as there are slots: memory stays what it is, and no call fails."""
    storage = SharedCounters()
    heavy = [f"user-{number}" for number in range(50)]
    for key in heavy:
        for _ in range(20):
            storage.incr(key, 600)
    counts = [storage.incr(f"address-{number}", 600) for number in range(131_072)]
    assert set(counts) == {1}
    assert [storage.get(key) for key in heavy] == [20] * len(heavy)
