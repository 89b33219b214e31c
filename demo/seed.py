"""The two orgs of the demo in the database, with their identity providers and clients."""

from datetime import datetime
from typing import Any

import psycopg

from demo.folder import DemoFolder
from demo.people import ORGS
from tenancy.clients import ASSISTANT_SCOPES, USER_SCOPES, Kind
from tenancy.keys import SecretBox
from tenancy.registration import ProviderSettings, add_org, connect_provider, find_org, register_client

ASSISTANT_CLIENT = "demo-assistant"
USER_CLIENT = "demo-console"
WEB_CLIENT = "keepline-web"
AUDIENCE = "keepline"


def seed_demo(connection: psycopg.Connection[Any], demo: DemoFolder, box: SecretBox, now: datetime) -> None:
    """Make what of the demo's orgs, providers and clients is not there yet; safe to run again."""
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
