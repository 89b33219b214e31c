"""The two orgs of the demo in the database, with their identity providers and clients."""

from datetime import datetime
from typing import Any

import psycopg

from demo.folder import DemoFolder
from demo.people import ORGS
from tenancy.clients import ASSISTANT_SCOPES, USER_SCOPES, Kind
from tenancy.errors import SetupError
from tenancy.keys import SecretBox
from tenancy.registration import ProviderSettings, add_org, connect_provider, find_org, register_client

ASSISTANT_CLIENT = "demo-assistant"
USER_CLIENT = "demo-console"
WEB_CLIENT = "keepline-web"
AUDIENCE = "keepline"


def seed_demo(connection: psycopg.Connection[Any], demo: DemoFolder, box: SecretBox, now: datetime) -> None:
    """Make what of the demo's orgs, providers and clients is not there yet; safe to run again.

    Raises:
        SetupError: the database holds orgs that this demo did not make.

    """
    _refuse_foreign_database(connection, demo)
    for org in ORGS:
        org_id = find_org(connection, org.slug)
        if org_id is not None:
            continue
        org_id = add_org(connection, org.slug, org.display_name, now)
        provider = ProviderSettings(
            issuer=f"{demo.provider_url}/{org.slug}",
            audience=AUDIENCE,
            client_id=WEB_CLIENT,
            sealed_secret=box.seal(demo.web_client_secret.encode()),
        )
        connect_provider(connection, org_id, provider, now)
        register_client(connection, org_id, ASSISTANT_CLIENT, "Demo assistant", Kind.ASSISTANT, ASSISTANT_SCOPES, now)
        register_client(connection, org_id, USER_CLIENT, "Demo console", Kind.USER, USER_SCOPES, now)


def _refuse_foreign_database(connection: psycopg.Connection[Any], demo: DemoFolder) -> None:
    """Refuse to open a database to people who sign in without a password, unless this demo made it."""
    orgs = connection.execute("SELECT count(*) FROM app.orgs").fetchone()
    own = connection.execute(
        "SELECT count(*) FROM app.providers WHERE issuer = ANY (%s)", ([f"{demo.provider_url}/{o.slug}" for o in ORGS],)
    ).fetchone()
    if orgs and orgs[0] and not (own and own[0]):
        raise SetupError(
            "The database holds organisations that this demo did not make, so the demo does not start on it. Nothing "
            "was changed. Set KEEPLINE_DEMO=0 to run it for real, or use another database for the demo."
        )
