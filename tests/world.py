"""The real parts that tests run against: the embedded server, migrated and seeded, a provider, and the app."""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from flask.testing import FlaskClient
from werkzeug.serving import make_server

from app import create_app
from demo.folder import DemoFolder, prepare_demo_folder
from demo.provider import create_provider
from demo.seed import seed_demo
from tenancy.clock import SystemClock
from tenancy.database import operator_login
from tenancy.embedded import EmbeddedServer
from tenancy.guards import GuardedFlask
from tenancy.keys import SecretBox, signing_keys
from tenancy.migrate import as_maintainer, migrate, roles_sql, shift_clock
from tenancy.services import Services
from tenancy.settings import Settings, ensure_keys, read_settings
from tests.pooler_server import Pooler, pooler_server

# A port of this run's own, so that several runs can go on side by side.
WEB_PORT = 10_000 + os.getpid() % 10_000
# What belongs to users and is emptied before each test; users themselves stay, as they do between requests.
_OF_USERS = "app.audit_details, app.audit_events, app.block_lines, app.blocks, app.org_policies, app.web_sessions"


class PublicAddressClient(FlaskClient):
    """A client that comes by the public address, as browsers do, so that cookies belong to it."""

    def open(self, *args: Any, **options: Any) -> Any:
        return super().open(*args, **{"base_url": f"http://127.0.0.1:{WEB_PORT}", **options})


class MovableClock(SystemClock):
    """The machine's clock, moved by tests as the demo moves it."""

    def __init__(self) -> None:
        self.shift = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.shift


@dataclass
class World:
    """Everything that runs, and how to look behind it."""

    settings: Settings
    server: EmbeddedServer
    demo: DemoFolder
    app: GuardedFlask
    clock: MovableClock
    environment: dict[str, str]

    @property
    def services(self) -> Services:
        return self.app.extensions["keepline"]

    def app_conninfo(self) -> str:
        """The app's role, directly; tests that run SQL of their own connect as it, never as anything stronger."""
        return self.server.conninfo("keepline_app")

    @contextmanager
    def superuser(self) -> Iterator[psycopg.Connection[Any]]:
        """Look at what is really stored: for positive controls and set-up, never for what is being tested."""
        with psycopg.connect(self.server.conninfo("postgres"), autocommit=True) as connection:
            yield connection

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a statement finds when no policy stands in its way."""
        with self.superuser() as connection:
            return connection.execute(statement, values).fetchall()

    def move_clock(self, shift: timedelta) -> None:
        """Move the time of what is stored, in the app and in the database alike."""
        self.clock.shift = shift
        shift_clock(operator_login(self.settings), shift.total_seconds())

    def empty(self) -> None:
        """Remove what earlier tests stored for users."""
        if self.clock.shift:
            self.move_clock(timedelta(0))
        with self.superuser() as connection:
            connection.execute(f"TRUNCATE {_OF_USERS}")
            connection.execute(
                "UPDATE app.users SET memory_on = true, signed_out_at = NULL "
                "WHERE NOT memory_on OR signed_out_at IS NOT NULL"
            )

    @contextmanager
    def another_app(self, **environment: str) -> Iterator[GuardedFlask]:
        """Make a second process' worth of app on the same database, with nothing remembered."""
        settings = read_settings({**self.environment, **environment})
        app = create_app(settings, self.clock)
        app.test_client_class = PublicAddressClient
        yield app
        app.extensions["keepline"].binder.close()


@contextmanager
def running_world(folder: Path, *, pooled: bool = False) -> Iterator[World]:
    """Start everything on an empty data folder and stop it at the end.

    Where it is pooled, the settings are those of an external database whose web login goes through PgBouncer.
    """
    environment = _environment(folder)
    settings = read_settings(environment)
    demo = prepare_demo_folder(folder, settings.port)
    settings = read_settings(environment)  # again, now that the folder says that it is the demo's
    secret_key, identity_key = ensure_keys(settings)
    clock = MovableClock()
    with ExitStack() as stack:
        server = stack.enter_context(EmbeddedServer(folder))
        stack.enter_context(_running_provider(settings, demo))
        server.create_database()
        with psycopg.connect(server.conninfo("postgres"), autocommit=True) as connection:
            connection.execute(roles_sql().encode())
        if pooled:
            pooler = stack.enter_context(pooler_server(server.address))
            environment |= external_database(settings, server, pooler)
            settings = read_settings(environment)
        login = operator_login(settings)
        migrate(login, signing_keys(identity_key))
        as_maintainer(login, lambda c: seed_demo(c, demo, SecretBox(secret_key), clock.now()))
        app = create_app(settings, clock)
        app.test_client_class = PublicAddressClient
        yield World(settings, server, demo, app, clock, environment)
        app.extensions["keepline"].binder.close()


def external_database(settings: Settings, server: EmbeddedServer, pooler: Pooler) -> dict[str, str]:
    """Return the settings of the same database as an external one: the web through a pooler, the others directly."""
    secret_key, identity_key = ensure_keys(settings)
    return {
        "KEEPLINE_DATABASE_URL": pooler.conninfo("keepline_app"),
        "KEEPLINE_WORKER_DATABASE_URL": server.conninfo("keepline_worker"),
        "KEEPLINE_OWNER_DATABASE_URL": server.conninfo("keepline_migrate"),
        "KEEPLINE_SECRET_KEY": secret_key.current.decode(),
        "KEEPLINE_IDENTITY_KEY": identity_key.current.decode(),
    }


@contextmanager
def _running_provider(settings: Settings, demo: DemoFolder) -> Iterator[None]:
    callback = f"{settings.public_url}/login/callback"
    provider = create_provider(
        demo.provider_url, settings.data_folder / "identity-provider", (callback,), demo.web_client_secret
    )
    with make_server("127.0.0.1", demo.provider_port, provider, threaded=True) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield
        server.shutdown()
        thread.join()


def _environment(folder: Path) -> dict[str, str]:
    return {
        "KEEPLINE_PORT": str(WEB_PORT),
        "KEEPLINE_DATA_DIR": str(folder),
        "KEEPLINE_DEMO": "1",
        # A run makes thousands of calls a minute as the same people; limits are tested on apps of their own.
        **{f"KEEPLINE_RATE_LIMIT_{whose}": "10000000" for whose in ("USER", "ORG", "ADDRESS")},
    }
