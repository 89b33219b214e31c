"""One round trip for several statements, on libpq's own pipeline.

psycopg's `Connection.pipeline()` talks to the socket after every statement and takes 0.3 ms of processor time for
what takes 0.08 ms here (docs/benchmarks.md). Without BEGIN, the statements up to the one sync are one transaction:
what `set_config(…, true)` sets in it is gone at its end, and an error undoes it whole.
"""

import select
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result

PATIENCE_SECONDS = 30
"""Longer than any statement may take on the server, so that only a dead network meets it."""

Row = tuple[Any, ...]


def run_in_one_round_trip(
    connection: psycopg.Connection[Any], statements: Sequence[tuple[bytes, Sequence[Any]]]
) -> list[list[Row]]:
    """Run statements with `$1` parameters as one transaction and return the rows of each.

    Raises:
        psycopg.Error: what the first failing statement raised; a connection that is left in doubt is closed.

    """
    libpq = connection.pgconn
    transformer: Any = Transformer(connection)  # psycopg's type of it has no attributes
    libpq.enter_pipeline_mode()
    try:
        for sql, values in statements:
            parameters = transformer.dump_sequence(values, [PyFormat.TEXT] * len(values))
            libpq.send_query_params(sql, parameters, transformer.types)
        libpq.pipeline_sync()
        results = _receive(connection)
        libpq.exit_pipeline_mode()
    except BaseException:
        connection.close()
        raise
    for result in results:
        if result.status == pq.ExecStatus.FATAL_ERROR:
            raise error_from_result(result)
    return [_rows(transformer, result) for result in results]


def _receive(connection: psycopg.Connection[Any]) -> list[pq.abc.PGresult]:
    """Return the results of all statements, up to the sync."""
    libpq = connection.pgconn
    poller = select.poll()
    while libpq.flush():
        _wait(poller, libpq.socket, select.POLLIN | select.POLLOUT)
        libpq.consume_input()
    results: list[pq.abc.PGresult] = []
    while True:
        while libpq.is_busy():
            _wait(poller, libpq.socket, select.POLLIN)
            libpq.consume_input()
        result = libpq.get_result()
        if result is None:
            continue  # separates the results of two statements
        if result.status == pq.ExecStatus.PIPELINE_SYNC:
            return results
        results.append(result)


def _wait(poller: select.poll, socket: int, events: int) -> None:
    poller.register(socket, events)
    if not poller.poll(PATIENCE_SECONDS * 1000):
        raise psycopg.OperationalError("the database server did not answer in time")


def _rows(transformer: Any, result: pq.abc.PGresult) -> list[Row]:
    transformer.set_pgresult(result)
    rows: list[Row] = transformer.load_rows(0, result.ntuples, tuple)
    return rows
