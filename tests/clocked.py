"""An app to which time passes at identity providers, so that what is kept for seconds grows old without a wait.

Only what deals with providers lives by this clock: the database has its own, by which it judges who is bound.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app import create_app
from tenancy.bearer import BearerTokens
from tenancy.guards import GuardedFlask
from tenancy.oidc import OpenIDProviders
from tenancy.renewal import SessionRenewal
from tenancy.services import Services
from tests.world import MovableClock, PublicAddressClient, World


class CredentialClock(MovableClock):
    """A clock whose real time moves too."""

    ahead = timedelta(0)

    def credential_now(self) -> datetime:
        return super().credential_now() + self.ahead


@dataclass
class ClockedApp:
    """The app and its clock."""

    app: GuardedFlask
    clock: CredentialClock

    @property
    def services(self) -> Services:
        return self.app.extensions["keepline"]

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.ahead += timedelta(seconds=seconds)


@contextmanager
def clocked_app(world: World) -> Iterator[ClockedApp]:
    """Make an app on the world's database that has met no provider yet."""
    clock = CredentialClock()
    app = create_app(world.settings, world.clock)
    app.test_client_class = PublicAddressClient
    services: Services = app.extensions["keepline"]
    providers = OpenIDProviders(clock, services.sessions.box, allow_loopback=True)
    app.extensions["keepline"] = replace(
        services,
        providers=providers,
        bearer_tokens=BearerTokens(providers, services.directory, clock),
        renewal=SessionRenewal(services.sessions, providers, services.directory),
    )
    yield ClockedApp(app, clock)
    services.binder.close()
