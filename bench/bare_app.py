"""The baseline of the prompt's bench: Flask, one primary-key SELECT, nothing else."""

import threading
from typing import Any

import psycopg
from flask import Flask, Response, jsonify

from tenancy.database import web_login
from tenancy.settings import read_settings

_kept = threading.local()
_conninfo = web_login(read_settings()).conninfo


def _connection() -> psycopg.Connection[Any]:
    """Return this thread's connection: the leanest way there is, without pool or transaction."""
    if not hasattr(_kept, "connection"):
        _kept.connection = psycopg.connect(_conninfo, autocommit=True, prepare_threshold=None)
    connection: psycopg.Connection[Any] = _kept.connection
    return connection


app = Flask("bare")


@app.get("/note")
def show_note() -> Response:
    """Answer the one row."""
    row = _connection().execute("SELECT text FROM bench.notes WHERE id = %s", (1,)).fetchone()
    return jsonify(text=row[0] if row else "")
