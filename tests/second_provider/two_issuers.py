"""Two issuers of oidc-provider, each connected to an org of its own, and Keepline on a port where they can reach it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from node_provider import ASSISTANT, AUDIENCE, SECRET, WEB_CLIENT, NodeProvider, running_node_provider
from werkzeug.serving import make_server

from tenancy.clients import ASSISTANT_SCOPES, Kind
from tenancy.database import operator_login
from tenancy.guards import GuardedFlask
from tenancy.keys import SecretBox
from tenancy.migrate import as_maintainer
from tenancy.registration import Connection, ProviderSettings, add_org, connect_provider, register_client
from tenancy.settings import ensure_keys
from tests.clocked import ClockedApp, clocked_app
from tests.world import World


@dataclass
class Issuers:
    """The two issuers, and Keepline as it is reached by them."""

    maple: NodeProvider
    rowan: NodeProvider
    keepline: ClockedApp

    @property
    def app(self) -> GuardedFlask:
        return self.keepline.app


@contextmanager
def running_issuers(world: World) -> Iterator[Issuers]:
    """Start Keepline and both issuers, which sign with different algorithms, and connect them."""
    callback = f"{world.settings.public_url}/login/callback"
    with clocked_app(world) as keepline, make_server("127.0.0.1", 0, keepline.app, threaded=True) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        logout = f"http://127.0.0.1:{server.port}/logout/backchannel"
        with (
            running_node_provider("maple", "ES256", callback, logout) as maple,
            running_node_provider("rowan", "EdDSA", callback, logout) as rowan,
        ):
            login = operator_login(world.settings)
            as_maintainer(login, lambda connection: _connect(connection, (maple, rowan), world))
            yield Issuers(maple, rowan, keepline)
        server.shutdown()
        thread.join()


def _connect(connection: Connection, providers: tuple[NodeProvider, ...], world: World) -> None:
    now, box = world.clock.now(), SecretBox(ensure_keys(world.settings)[0])
    for provider in providers:
        org_id = add_org(connection, provider.org, provider.org.title(), now)
        sealed = box.seal(SECRET.encode())
        connect_provider(connection, org_id, ProviderSettings(provider.issuer, AUDIENCE, WEB_CLIENT, sealed), now)
        register_client(connection, org_id, ASSISTANT, "Second assistant", Kind.ASSISTANT, ASSISTANT_SCOPES, now)
