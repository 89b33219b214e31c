"""Many users of two orgs at once on few connections, every request checked for rows of anybody else."""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from tenancy.binding import compile_read
from tenancy.identity import Identity
from tests.cast import Cast
from tests.tenancy.pool_of_one import EVERY_TEXT, Pool
from tests.world import World

THREADS = 16
USERS_OF_AN_ORG = 25
# By no predicate but the policy's: what else it reaches is somebody else's.
REWRITE = "UPDATE app.blocks SET text = %s"
DIVISION = compile_read(text("SELECT 1 / 0"))
LOST = "must never be stored"
_COPY = """
INSERT INTO app.users SELECT copy.* FROM app.users u, generate_series(1, %s) AS number,
  LATERAL jsonb_populate_record(u, jsonb_build_object('id', uuidv7(), 'subject', 'crowd-' || number)) AS copy
WHERE u.id = %s RETURNING id
"""


@dataclass
class Outcome:
    """What a crowd met."""

    done: list[Identity] = field(default_factory=list)
    crossings: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@contextmanager
def crowd(world: World, cast: Cast) -> Iterator[list[Identity]]:
    """Make users beside the owner and beside the stranger, each with a block of its own, for as long as it lasts."""
    people: list[Identity] = []
    with world.superuser() as connection:
        for known in (cast.owner.identity, cast.stranger.identity):
            made = connection.execute(_COPY, (USERS_OF_AN_ORG, known.user_id)).fetchall()
            people += [replace(known, user_id=user_id) for (user_id,) in made]
        for person in people:
            connection.execute(
                "INSERT INTO app.blocks (org_id, user_id, text, updated_at, updated_by_writer, updated_by_client) "
                "VALUES (%s, %s, %s, now(), 'user', 'test')",
                (person.org_id, person.user_id, str(person.user_id)),
            )
        try:
            yield people
        finally:
            connection.execute("DELETE FROM app.users WHERE subject LIKE 'crowd-%'")


def mingle(pool: Pool, people: Sequence[Identity], requests: int) -> Outcome:
    """Let the people make that many requests over the threads, in a random order that is the same in each run."""
    outcome = Outcome()
    start = threading.Barrier(THREADS)

    def work(number: int) -> None:
        chance = random.Random(number)  # noqa: S311 - an order, not a secret
        start.wait()
        for _ in range(requests // THREADS):
            person, act = chance.choice(people), chance.choice(_ACTS)
            try:
                outcome.crossings += act(pool, person)
            except Exception as error:  # whatever it is, it is counted
                outcome.faults.append(f"{act.__name__}: {error!r}")
            outcome.done.append(person)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcome


def wrongly_stored(world: World, people: Sequence[Identity]) -> list[str]:
    """Return what stands in a block and was not written there by its user, and whose block is gone."""
    stored = world.rows("SELECT user_id, text FROM app.blocks")
    wrong = [f"{user} holds {text}" for user, text in stored if not text.startswith(str(user)) or LOST in text]
    return wrong + [f"{user} is gone" for user in {person.user_id for person in people} - {user for user, _ in stored}]


def _write(pool: Pool, person: Identity) -> list[str]:
    with pool.binder.bound(person) as connection:
        changed = connection.exec_driver_sql(REWRITE, (f"{person.user_id} again",)).rowcount
        return [*_others(person, _seen(connection)), *([] if changed == 1 else [f"{changed} rows were changed"])]


def _look(pool: Pool, person: Identity) -> list[str]:
    with pool.binder.bound(person) as connection:
        return _others(person, _seen(connection))


def _read(pool: Pool, person: Identity) -> list[str]:
    return _others(person, [text for (text,) in pool.binder.read(person, [(EVERY_TEXT, {})])[0]])


def _fail_in_the_database(pool: Pool, person: Identity) -> list[str]:
    return _fail(pool, person, lambda connection: connection.exec_driver_sql("SELECT 1 / 0"), DBAPIError)


def _fail_in_the_program(pool: Pool, person: Identity) -> list[str]:
    return _fail(pool, person, lambda _: {}["missing"], KeyError)


def _fail_to_read(pool: Pool, person: Identity) -> list[str]:
    try:
        pool.binder.read(person, [(EVERY_TEXT, {}), (DIVISION, {})])
    except psycopg.errors.DivisionByZero:
        return []
    return ["a division by zero was answered"]


def _look_as_nobody(pool: Pool, person: Identity) -> list[str]:  # noqa: ARG001 - this one is nobody
    pool.binder.readiness()
    with pool.engine.connect() as connection:
        return _seen(connection)


def _fail(pool: Pool, person: Identity, act: Callable[[Connection], Any], expected: type[Exception]) -> list[str]:
    seen: list[str] = []
    try:
        with pool.binder.bound(person) as connection:
            seen = _seen(connection)
            connection.exec_driver_sql(REWRITE, (f"{person.user_id} {LOST}",))
            act(connection)
    except expected:
        return _others(person, seen)
    return ["what had to fail did not"]


def _seen(connection: Connection) -> list[str]:
    return [row[0] for row in connection.exec_driver_sql("SELECT text FROM app.blocks")]


def _others(person: Identity, texts: Sequence[str]) -> list[str]:
    """Return what is wrong with the texts: the person's own is to be there, and no other."""
    own = str(person.user_id)
    wrong = [f"{own} saw {text}" for text in texts if not text.startswith(own) or LOST in text]
    return wrong or ([] if len(texts) == 1 else [f"{own} saw {len(texts)} rows"])


_ACTS = (
    _write, _look, _read, _write, _look, _read, _read,
    _fail_in_the_database, _fail_in_the_program, _fail_to_read, _look_as_nobody,
)  # fmt: skip
