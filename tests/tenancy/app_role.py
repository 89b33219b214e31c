"""The database as the app's role meets it: connections and tokens for tests that bind by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg

from tenancy.clock import SystemClock
from tenancy.identity import Signer
from tenancy.keys import signing_keys
from tenancy.settings import ensure_keys
from tests.world import MovableClock, World

Connection = psycopg.Connection[Any]
REJECTED = psycopg.errors.InvalidAuthorizationSpecification  # 28000


class ShiftedCredentialClock(MovableClock):
    """A clock whose credentials' time is moved, so that a token can be signed in the past."""

    def __init__(self, shift: timedelta) -> None:
        super().__init__()
        self._credential_shift = shift

    def credential_now(self) -> Any:
        return super().credential_now() + self._credential_shift


def signer_of(world: World, shift: timedelta = timedelta(0)) -> Signer:
    """Return what signs as the web processes do, as of now or of another time."""
    _, identity_key = ensure_keys(world.settings)
    return Signer(signing_keys(identity_key), ShiftedCredentialClock(shift) if shift else SystemClock())


@contextmanager
def app_connection(world: World) -> Iterator[Connection]:
    """Log in as the web does, in autocommit."""
    with psycopg.connect(world.app_conninfo(), autocommit=True, prepare_threshold=None) as connection:
        yield connection


def bind(connection: Connection, token: str | None) -> None:
    """Set the identity of the current transaction to whatever it is given."""
    connection.execute("SELECT set_config('keepline.identity', %s, true)", (token,))


def seen_blocks(connection: Connection, token: str | None) -> list[str]:
    """Return the texts that a transaction bound to the token sees."""
    with connection.transaction():
        bind(connection, token)
        return [text for (text,) in connection.execute("SELECT text FROM app.blocks")]
