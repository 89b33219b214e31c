"""Several statements in one round trip: what comes back, and what happens when the line breaks anywhere in it."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tenancy.pipeline import run_in_one_round_trip
from tests.tenancy.app_role import Connection, app_connection
from tests.tenancy.wire_proxy import WireProxy, wire_proxy
from tests.world import World

Statements = list[tuple[bytes, list[Any]]]

THREE: Statements = [
    (b"SELECT $1::int", [1]),
    (b"SELECT g FROM generate_series(1, 3) g", []),
    (b"SELECT $1::text", ["last"]),
]
ANSWERS = [[(1,)], [(1,), (2,), (3,)], [("last",)]]
SECONDS_AT_MOST = 10


@pytest.fixture
def connection(world: World) -> Iterator[Connection]:
    with app_connection(world) as opened:
        yield opened


@pytest.fixture
def proxy(world: World) -> Iterator[WireProxy]:
    parts = conninfo_to_dict(world.app_conninfo())
    with wire_proxy(Path(str(parts["host"])) / f".s.PGSQL.{parts['port']}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", "Ünïcödé — 日本語"),
        ("text", ""),
        ("text", None),
        ("int", -1),
        ("uuid", UUID(int=7)),
        ("bytea", b"\0\xff"),
        ("timestamptz", datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("boolean", True),
        ("uuid[]", [UUID(int=1), UUID(int=2)]),
        ("text[]", []),
        ("jsonb", None),
    ],
)
def test_a_value_comes_back(connection: Connection, kind: str, value: Any) -> None:
    [[(returned,)]] = run_in_one_round_trip(connection, [(f"SELECT $1::{kind}".encode(), [value])])
    assert returned == value


def test_each_statement_has_its_rows(connection: Connection) -> None:
    assert run_in_one_round_trip(connection, THREE) == ANSWERS
    assert run_in_one_round_trip(connection, [(b"SELECT 1 WHERE false", [])]) == [[]]
    assert run_in_one_round_trip(connection, []) == []


def test_more_than_any_buffer_goes_both_ways(connection: Connection) -> None:
    large = "x" * 5_000_000
    [[(returned,)], rows] = run_in_one_round_trip(
        connection, [(b"SELECT $1::text", [large]), (b"SELECT repeat('y', 1000) FROM generate_series(1, 5000)", [])]
    )
    assert returned == large
    assert len(rows) == 5_000


def test_what_is_set_for_the_transaction_is_gone_after_it(connection: Connection) -> None:
    answers = run_in_one_round_trip(
        connection,
        [(b"SELECT set_config('keepline.x', $1, true)", ["set"]), (b"SELECT current_setting('keepline.x')", [])],
    )
    assert answers == [[("set",)], [("set",)]]
    assert connection.execute("SELECT current_setting('keepline.x', true)").fetchone() in [("",), (None,)]
    assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_the_first_error_is_the_one_that_is_raised_and_nothing_stays(connection: Connection) -> None:
    failing: Statements = [
        (b"SELECT set_config('keepline.x', 'set', true)", []),
        (b"SELECT 1 / $1::int", [0]),
        (b"SELECT 'no uuid'::uuid", []),
    ]
    with pytest.raises(psycopg.errors.DivisionByZero):
        run_in_one_round_trip(connection, failing)
    assert not connection.closed
    assert connection.execute("SELECT current_setting('keepline.x', true)").fetchone() in [("",), (None,)]
    assert run_in_one_round_trip(connection, THREE) == ANSWERS


def test_a_value_that_cannot_be_sent_leaves_no_half_a_pipeline(connection: Connection) -> None:
    unsendable: Statements = [(b"SELECT 1", []), (b"SELECT $1::text", [object()])]
    with pytest.raises(psycopg.ProgrammingError):
        run_in_one_round_trip(connection, unsendable)
    assert connection.closed


def _outcome(connection: Connection) -> object:
    """Run the three statements on a thread of their own, so that one that never ends fails the test."""
    outcome: list[object] = []

    def work() -> None:
        try:
            outcome.append(run_in_one_round_trip(connection, THREE))
        except psycopg.Error as error:
            outcome.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(SECONDS_AT_MOST)
    assert outcome, "it never came back"
    return outcome[0]


def test_a_line_cut_anywhere_in_the_answer_is_an_error(world: World, proxy: WireProxy) -> None:
    conninfo = make_conninfo(world.app_conninfo(), host=str(proxy.folder))
    whole = 0
    while True:
        with psycopg.connect(conninfo, autocommit=True, prepare_threshold=None) as connection:
            proxy.answer_bytes_left = whole
            outcome = _outcome(connection)
            proxy.answer_bytes_left = None
            if outcome == ANSWERS:
                break
            assert isinstance(outcome, psycopg.OperationalError), whole
            assert connection.closed
        whole += 1
    assert whole > 100


@pytest.mark.parametrize("ended_by", ["server", "network"])
def test_a_line_that_was_dead_before_is_an_error(world: World, proxy: WireProxy, ended_by: str) -> None:
    for _ in range(20):
        with psycopg.connect(make_conninfo(world.app_conninfo(), host=str(proxy.folder)), autocommit=True) as dead:
            if ended_by == "server":
                assert world.rows("SELECT pg_terminate_backend(%s, 5000)", dead.info.backend_pid) == [(True,)]
            else:
                proxy.hang_up()
            assert isinstance(_outcome(dead), psycopg.OperationalError)
            assert dead.closed


def test_a_server_that_is_ended_while_it_answers_is_an_error(world: World, connection: Connection) -> None:
    ended: list[object] = []

    def end() -> None:
        ended.append(world.rows("SELECT pg_terminate_backend(%s, 5000)", connection.info.backend_pid))

    timer = threading.Timer(0.3, end)
    timer.start()
    with pytest.raises(psycopg.OperationalError):
        run_in_one_round_trip(connection, [(b"SELECT pg_sleep(5)", []), (b"SELECT 1", [])])
    timer.join()
    assert ended == [[(True,)]]
    assert connection.closed
