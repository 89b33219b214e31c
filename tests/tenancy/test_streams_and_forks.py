"""An identity is bound where the work happens: in a stream after its request, and in a process after its fork."""

import os
from collections.abc import Iterator

import pytest
from flask import Response
from sqlalchemy import event

from app import create_app
from tenancy.guards import PUBLIC, GuardedFlask, guarded
from tests.cast import Cast
from tests.tenancy.pool_of_one import WRITE, Pool, pool_of
from tests.world import World

TEXTS = "SELECT text FROM app.blocks"


@pytest.fixture
def pool(world: World) -> Iterator[Pool]:
    with pool_of(world) as opened:
        yield opened


def test_a_stream_that_binds_as_it_goes_sees_its_own_whoever_comes_between(cast: Cast, pool: Pool) -> None:
    """Each batch is a transaction of its own, after the request's teardown and between other people's requests."""
    pool.run(cast.owner.identity, WRITE)
    app = GuardedFlask("streaming")

    @app.get("/stream")
    @guarded(PUBLIC)
    def stream() -> Response:
        def batches() -> Iterator[str]:
            for _ in range(3):
                with pool.binder.bound(cast.owner.identity) as connection:
                    yield "".join(connection.exec_driver_sql(TEXTS).scalars())

        return Response(batches())

    reply = app.test_client().get("/stream", buffered=False)
    parts = iter(reply.response)
    met = [next(parts)]
    for _ in range(2):
        met.append(next(parts))
        # The stream pauses inside its transaction here; between batches the one connection is free for others.
    assert list(parts) == []
    assert met == [b"Mine"] * 3
    assert pool.read(cast.stranger.identity) == []
    pool.assert_clean()


def test_a_stream_that_forgot_to_bind_sees_nothing(cast: Cast, pool: Pool) -> None:
    """The connection served the owner a moment ago; what runs unbound on it afterwards is nobody."""
    pool.run(cast.owner.identity, WRITE)

    def unbound() -> Iterator[list[str]]:
        with pool.engine.connect() as connection:
            yield list(connection.exec_driver_sql(TEXTS).scalars())

    assert list(unbound()) == [[]]
    assert pool.read(cast.owner.identity) == ["Mine"]


def test_a_stream_that_is_left_in_the_middle_gives_its_connection_back_clean(cast: Cast, pool: Pool) -> None:
    pool.run(cast.owner.identity, WRITE)

    def batches() -> Iterator[str]:
        with pool.binder.bound(cast.owner.identity) as connection:
            yield from connection.exec_driver_sql(TEXTS).scalars()
            yield "never asked for"

    left = batches()
    assert next(left) == "Mine"
    left.close()  # as a server does when the client goes away
    pool.assert_clean()
    assert pool.read(cast.stranger.identity) == []


def test_making_the_app_opens_no_connection_that_a_fork_could_share(world: World) -> None:
    """gunicorn makes it once, before it forks its workers."""
    opened: list[int] = []
    app = create_app(world.settings, world.clock)
    binder = app.extensions["keepline"].binder
    event.listen(binder._engine, "connect", lambda *_: opened.append(os.getpid()))
    assert binder._engine.pool.checkedin() == 0
    assert opened == []
    assert app.test_client().get("/readyz").status_code == 200
    assert opened == [os.getpid()]  # and the first request does
    binder.close()
