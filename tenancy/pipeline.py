"""One round trip for several statements, on libpq's own pipeline.

psycopg's `Connection.pipeline()` talks to the socket after every statement and takes 0.3 ms of processor time for
what takes 0.08 ms here (docs/benchmarks.md). Without BEGIN, the statements up to the one sync are one transaction:
what `set_config(…, true)` sets in it is gone at its end, and an error undoes it whole.

On a direct connection the session is emptied first: whatever an injected statement left behind in it (settings,
cursors, prepared statements, channels) is gone before anybody else is bound. These are the parts of DISCARD ALL that
the app's role could have used; the whole of it also throws away the plans of the guard's functions, which doubled the
time of a read (docs/decisions/0015-empty-sessions.md).
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


EMPTY_THE_SESSION = (b"CLOSE ALL", b"RESET ALL", b"DEALLOCATE ALL", b"UNLISTEN *")


def run_in_one_round_trip(
    connection: psycopg.Connection[Any], statements: Sequence[tuple[bytes, Sequence[Any]]], *, empty_first: bool = False
) -> list[list[Row]]:
    """Run statements with `$1` parameters as one transaction and return the rows of each.

    `empty_first` empties the session before; through a pooler that would reach another session than the one meant.

    Raises:
        psycopg.Error: what the first failing statement raised; a connection that is left in doubt is closed.

    """
    libpq = connection.pgconn
    transformer: Any = Transformer(connection)  # psycopg's type of it has no attributes
    emptying = EMPTY_THE_SESSION if empty_first else ()
    libpq.enter_pipeline_mode()
    try:
        for command in emptying:
            libpq.send_query_params(command, None)
        if emptying:
            libpq.pipeline_sync()  # a transaction of its own: rolling the next one back must not bring things back
        for sql, values in statements:
            parameters = transformer.dump_sequence(values, [PyFormat.TEXT] * len(values))
            libpq.send_query_params(sql, parameters, transformer.types)
        libpq.pipeline_sync()
        results = _receive(connection, syncs=2 if emptying else 1)
        libpq.exit_pipeline_mode()
    except BaseException:
        connection.close()
        raise
    for result in results:
        if result.status == pq.ExecStatus.FATAL_ERROR:
            raise error_from_result(result)
    return [_rows(transformer, result) for result in results[len(emptying) :]]


def _receive(connection: psycopg.Connection[Any], *, syncs: int) -> list[pq.abc.PGresult]:
    """Return the results of all statements, up to the last sync."""
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
        if result.status != pq.ExecStatus.PIPELINE_SYNC:
            results.append(result)
            continue
        syncs -= 1
        if not syncs:
            return results


def _wait(poller: select.poll, socket: int, events: int) -> None:
    poller.register(socket, events)
    if not poller.poll(PATIENCE_SECONDS * 1000):
        raise psycopg.OperationalError("the database server did not answer in time")


def _rows(transformer: Any, result: pq.abc.PGresult) -> list[Row]:
    transformer.set_pgresult(result)
    rows: list[Row] = transformer.load_rows(0, result.ntuples, tuple)
    return rows
