"""What one process is made of: settings, clock, pool and everything that is asked who somebody is."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from flask import current_app

from tenancy.bearer import BearerTokens
from tenancy.binding import Binder
from tenancy.clock import Clock, ShiftedClock, SystemClock
from tenancy.database import Login, create_pool
from tenancy.identity import Signer
from tenancy.keys import ClosingTags, SecretBox, signing_keys
from tenancy.oidc import OpenIDProviders
from tenancy.providers import Directory
from tenancy.renewal import SessionRenewal
from tenancy.sessions import WebSessions
from tenancy.settings import Settings, ensure_keys

CLOCK_SHIFT_FILE = "demo-clock"


@dataclass(frozen=True)
class Services:
    """The parts of a process that serves; made once, without opening a connection."""

    settings: Settings
    clock: Clock
    binder: Binder
    directory: Directory
    providers: OpenIDProviders
    bearer_tokens: BearerTokens
    sessions: WebSessions
    renewal: SessionRenewal
    tags: ClosingTags


def build_services(settings: Settings, login: Login, clock: Clock | None = None) -> Services:
    """Put the parts together for one process.

    Raises:
        SetupError: a key is missing.

    """
    clock = clock or create_clock(settings)
    secret_key, identity_key = ensure_keys(settings)
    box = SecretBox(secret_key)
    binder = Binder(create_pool(login, settings.web_threads), Signer(signing_keys(identity_key), clock))
    directory = Directory(binder, clock, settings.client_secrets)
    providers = OpenIDProviders(clock, box, allow_loopback=settings.demo)
    sessions = WebSessions(binder, box, secret_key)
    return Services(
        settings=settings,
        clock=clock,
        binder=binder,
        directory=directory,
        providers=providers,
        bearer_tokens=BearerTokens(providers, directory, clock),
        sessions=sessions,
        renewal=SessionRenewal(sessions, providers, directory),
        tags=ClosingTags(secret_key),
    )


def create_clock(settings: Settings) -> Clock:
    """Return the machine's clock, or in the demo the one that can be moved."""
    return ShiftedClock(clock_shift_file(settings)) if settings.demo else SystemClock()


def clock_shift_file(settings: Settings) -> Path:
    """Return the file that moves the demo's clock."""
    return settings.data_folder / CLOCK_SHIFT_FILE


def current_services() -> Services:
    """Return the services of the app that handles the current request."""
    return cast(Services, current_app.extensions["keepline"])
