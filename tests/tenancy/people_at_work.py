"""People who go on reading and writing, in threads, while an operator does something; and what they were answered."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tenancy.guards import GuardedFlask
from tests.cast import Cast

THREADS = 3


class PeopleAtWork:
    """Calls through each of the apps, counted by app and status; apps may come and go meanwhile."""

    def __init__(self, token: str, **apps: GuardedFlask) -> None:
        self.apps = dict(apps)
        self.answers: Counter[tuple[str, int]] = Counter()
        self._token = token
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self.work) for _ in range(THREADS)]

    def work(self) -> None:
        headers, number = {"Authorization": f"Bearer {self._token}"}, 0
        while not self._over.is_set():
            number += 1
            for name, app in list(self.apps.items()):
                body = {"text": f"Number {number}"}
                written = app.test_client().put("/v1/memory/block", json=body, headers=headers)
                read = app.test_client().get("/v1/prompt", headers=headers)
                self.answers.update([(name, written.status_code), (name, read.status_code)])

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let them finish what they are at, and wait for it: an app is closed only when nobody uses it."""
        self._over.set()
        for thread in self._threads:
            thread.join()


@contextmanager
def people_at_work(cast: Cast, **apps: GuardedFlask) -> Iterator[PeopleAtWork]:
    """Let them work until the end."""
    people = PeopleAtWork(cast.owner.program.token, **apps)
    people.start()
    try:
        yield people
    finally:
        people.stop()
