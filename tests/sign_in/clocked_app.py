"""An app whose real time can be moved, so that what is kept for seconds grows old without a wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from app import create_app
from tenancy.guards import GuardedFlask
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

    def move(self, seconds: float) -> None:
        """Let real time pass."""
        self.clock.ahead += timedelta(seconds=seconds)


@contextmanager
def clocked_app(world: World) -> Iterator[ClockedApp]:
    """Make an app on the world's database that has met no provider yet."""
    clock = CredentialClock()
    app = create_app(world.settings, clock)
    app.test_client_class = PublicAddressClient
    yield ClockedApp(app, clock)
    app.extensions["keepline"].binder.close()
