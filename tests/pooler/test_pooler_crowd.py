"""Through a pooler with two connections, nobody ever meets a row of anybody else, whatever fails in between."""

import random
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, event

from demo.people import PEOPLE
from demo.seed import USER_CLIENT
from demo.tokens import fetch_token
from tenancy.binding import Binder, Read
from tenancy.identity import Identity
from tests.cast import Calls, Cast
from tests.pooler.crowd import THREADS, crowd, mingle, wrongly_stored
from tests.pooler_server import Pooler, pooler_server
from tests.tenancy.app_role import signer_of
from tests.tenancy.pool_of_one import Pool, pool_of
from tests.world import World, external_database

REQUESTS = 10_000
REQUESTS_OF_A_CONTROL = 1_600
REQUESTS_BY_HTTP = 1_600


@pytest.fixture
def own_pooler(world: World) -> Iterator[Pooler]:
    """A pooler for what spoils its connections."""
    with pooler_server(world.server.address) as opened:
        yield opened


def test_ten_thousand_requests_of_two_orgs_never_cross(world: World, cast: Cast, pooler: Pooler) -> None:
    with (
        crowd(world, cast) as people,
        pool_of(world, THREADS, pooler.conninfo("keepline_app")) as pool,
    ):
        outcome = mingle(pool, people, REQUESTS)
        assert outcome.faults == []
        assert outcome.crossings == []
        assert len(outcome.done) == REQUESTS
        assert wrongly_stored(world, people) == []
        stored = world.rows("SELECT text FROM app.blocks")
        assert sum(text.endswith("again") for (text,) in stored) == len(people)  # every one of them did write
        pool.assert_clean()


def test_a_pooler_that_empties_its_connections_serves_as_well(world: World, cast: Cast) -> None:
    with (
        pooler_server(world.server.address, emptied=True) as emptying,
        crowd(world, cast) as people,
        pool_of(world, THREADS, emptying.conninfo("keepline_app")) as pool,
    ):
        outcome = mingle(pool, people, REQUESTS_OF_A_CONTROL)
        assert (outcome.faults, outcome.crossings, wrongly_stored(world, people)) == ([], [], [])


class BinderOfSessions(Binder):
    """What a careless binder does: it sets who is asking for the session, and not for a transaction."""

    @contextmanager
    def bound(self, identity: Identity) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            token = self._signer.identity_token(identity)
            connection.exec_driver_sql("SELECT set_config('keepline.identity', %s, false)", (token,))
            yield connection

    def read(self, identity: Identity, reads: Sequence[tuple[Read, Mapping[str, Any]]]) -> list[list[tuple[Any, ...]]]:
        with self.bound(identity) as connection:
            return [list(map(tuple, connection.exec_driver_sql(read.sql.decode()).all())) for read, _ in reads]


def test_the_same_crowd_crosses_where_a_session_is_bound(world: World, cast: Cast, own_pooler: Pooler) -> None:
    """The control: the crowd notices crossings, both of what is seen and of what is written."""
    with (
        crowd(world, cast) as people,
        pool_of(world, THREADS, own_pooler.conninfo("keepline_app")) as pool,
    ):
        careless = Pool(BinderOfSessions(pool.engine, signer_of(world)), pool.engine)
        assert len(mingle(careless, people, REQUESTS_OF_A_CONTROL).crossings) > REQUESTS_OF_A_CONTROL / 10
        assert wrongly_stored(world, people) != []


def test_the_same_crowd_fails_where_statements_are_prepared(world: World, cast: Cast, own_pooler: Pooler) -> None:
    """The control of the pool's own choice: with prepared statements, names of one client meet those of another."""
    with (
        crowd(world, cast) as people,
        pool_of(world, THREADS, own_pooler.conninfo("keepline_app")) as pool,
    ):

        @event.listens_for(pool.engine, "checkout")
        def prepare(connection: psycopg.Connection[Any], *_: Any) -> None:
            connection.prepare_threshold = 0

        outcome = mingle(pool, people, REQUESTS_OF_A_CONTROL)
        assert any("prepared statement" in fault for fault in outcome.faults)


def test_requests_by_http_of_two_orgs_never_cross(world: World, pooler: Pooler) -> None:
    """Everybody of both orgs at once: each is given a text of their own and nothing else."""
    people = [(person.login_name, fetch_token(world.demo.provider_url, person.login_name, USER_CLIENT))
              for person in PEOPLE]  # fmt: skip
    wrong: list[str] = []
    done: list[int] = []
    through = external_database(world.settings, world.server, pooler)
    with world.another_app(**through, KEEPLINE_WEB_THREADS=str(THREADS)) as app:
        for name, token in people:
            assert Calls(app.test_client(), token).write(f"- of {name}.").status_code == 200
        start = threading.Barrier(THREADS)

        def work(number: int) -> None:
            chance = random.Random(number)  # noqa: S311 - an order, not a secret
            client = app.test_client()
            start.wait()
            for turn in range(REQUESTS_BY_HTTP // THREADS):
                name, token = chance.choice(people)
                try:
                    wrong.extend(_request(Calls(client, token), name, f"{number}.{turn}", chance.randrange(5)))
                except Exception as error:  # whatever it is, it is counted
                    wrong.append(f"{name}: {error!r}")
                done.append(turn)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name, token in people:
            wrong += _others(name, Calls(app.test_client(), token).get("/v1/memory/block").get_json()["text"])
    assert wrong == []
    assert len(done) == REQUESTS_BY_HTTP


def _request(calls: Calls, name: str, word: str, act: int) -> list[str]:
    """Make one request and return what of its reply is not as it should be."""
    if act == 0:
        reply = calls.write(f"- of {name}. {word}")
        return [] if reply.status_code == 200 else [f"{name} could not write: {reply.text}"]
    if act == 1:
        reply = calls.put("/v1/memory/block", {"text": 5})
        return [] if reply.status_code == 422 else [f"{name} wrote what does not fit: {reply.text}"]
    if act == 2:
        return _others(name, calls.get("/v1/prompt").get_json()["text"])
    return _others(name, calls.get("/v1/memory/block").get_json()["text"])


def _others(name: str, text: str) -> list[str]:
    own = f"- of {name}."
    named = [f"- of {person.login_name}." for person in PEOPLE if f"- of {person.login_name}." in text]
    return [] if named == [own] else [f"{name} was given {named}"]
