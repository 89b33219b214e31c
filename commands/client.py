"""keepline client: registering the programs of an organisation."""

from typing import Any

import click
import psycopg

from tenancy.clients import ASSISTANT_SCOPES, USER_SCOPES, Kind
from tenancy.database import operator_login
from tenancy.errors import SetupError
from tenancy.migrate import as_maintainer
from tenancy.registration import find_org, register_client
from tenancy.services import create_clock
from tenancy.settings import read_settings


@click.group()
def command() -> None:
    """Programs that act for people: assistants, and programs that are the person's own."""


@command.command()
@click.argument("org")
@click.argument("client_id")
@click.option("--name", required=True, help="The name that people see beside what it wrote.")
@click.option("--kind", type=click.Choice([kind.value for kind in Kind]), default="assistant", show_default=True)
@click.option("--scope", "scopes", multiple=True, help="Repeat for each; all that the kind may hold when left out.")
def add(org: str, client_id: str, name: str, kind: str, scopes: tuple[str, ...]) -> None:
    """Register CLIENT_ID in the org with the short name ORG, or change its registration."""
    settings = read_settings()
    chosen = Kind(kind)
    wanted = frozenset(scopes) or (ASSISTANT_SCOPES if chosen is Kind.ASSISTANT else USER_SCOPES)
    now = create_clock(settings).now()

    def act(connection: psycopg.Connection[Any]) -> None:
        org_id = find_org(connection, org)
        if org_id is None:
            raise SetupError(f"There is no org with the short name {org}. Nothing was registered.")
        register_client(connection, org_id, client_id, name, chosen, wanted, now)

    as_maintainer(operator_login(settings), act)
    click.echo(f"{client_id} is registered in {org} as {kind} with: {', '.join(sorted(wanted))}")
