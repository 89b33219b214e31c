"""keepline client: registering, listing, replacing and revoking the programs of an organisation."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import click
import psycopg

from admin.clients.rules import OVERLAP_HOURS, OVERLAP_HOURS_DEFAULT, client_id_fault
from admin.rules import text_fault
from tenancy.client_registry import RegistryEntry, list_clients, replace_client, revoke_client
from tenancy.clients import ASSISTANT_SCOPES, USER_SCOPES, Kind
from tenancy.database import operator_login
from tenancy.errors import SetupError
from tenancy.migrate import as_maintainer
from tenancy.registration import find_org, register_client
from tenancy.services import create_clock
from tenancy.settings import read_settings

Result = TypeVar("Result")


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
    """Register CLIENT_ID in the org with the short name ORG, or change its name and scopes."""
    _refuse(client_id_fault(client_id), "A client id")
    _refuse(text_fault(name), "A name")
    chosen = Kind(kind)
    wanted = frozenset(scopes) or (ASSISTANT_SCOPES if chosen is Kind.ASSISTANT else USER_SCOPES)
    now = create_clock(read_settings()).now()
    _in_org(org, lambda connection, org_id: register_client(connection, org_id, client_id, name, chosen, wanted, now))
    click.echo(f"{client_id} is registered in {org} as {kind} with: {', '.join(sorted(wanted))}")


@command.command()
@click.argument("org")
@click.argument("client_id")
def revoke(org: str, client_id: str) -> None:
    """Refuse the tokens of CLIENT_ID from now on."""
    _in_org(org, lambda connection, org_id: revoke_client(connection, org_id, client_id))
    click.echo(f"{client_id} is revoked in {org}; `keepline client add` registers it again.")


@command.command()
@click.argument("org")
@click.argument("client_id")
@click.argument("new_client_id")
@click.option(
    "--overlap-hours",
    type=click.IntRange(OVERLAP_HOURS[0], OVERLAP_HOURS[-1]),
    default=OVERLAP_HOURS_DEFAULT,
    show_default=True,
    help="How long CLIENT_ID goes on beside the new one.",
)
def replace(org: str, client_id: str, new_client_id: str, overlap_hours: int) -> None:
    """Register NEW_CLIENT_ID with name, kind and scopes of CLIENT_ID, which ends after the overlap."""
    _refuse(client_id_fault(new_client_id), "A client id")
    overlap = timedelta(hours=overlap_hours)
    ends_at = _in_org(
        org, lambda connection, org_id: replace_client(connection, org_id, client_id, new_client_id, overlap)
    )
    click.echo(f"{new_client_id} is registered in {org}; {client_id} goes on until {_time(ends_at)}.")


@command.command("list")
@click.argument("org")
def show(org: str) -> None:
    """List the clients of ORG: id, kind, state, last use, name and scopes, with tabs between them."""
    entries = _in_org(org, list_clients)
    if not entries:
        click.echo(f"No client is registered in {org}.", err=True)
    for entry in entries:
        used = f"last used {_time(entry.last_used_at)}" if entry.last_used_at else "never used"
        fields = (entry.client_id, entry.kind, _state(entry), used, entry.name, " ".join(entry.scopes))
        click.echo("\t".join(fields))


def _in_org(org: str, act: Callable[[psycopg.Connection[Any], UUID], Result]) -> Result:
    def work(connection: psycopg.Connection[Any]) -> Result:
        org_id = find_org(connection, org)
        if org_id is None:
            raise SetupError(f"There is no org with the short name {org}. Nothing was changed.")
        return act(connection, org_id)

    return as_maintainer(operator_login(read_settings()), work)


def _refuse(fault: str | None, what: str) -> None:
    if fault is not None:
        raise SetupError(f"{what} does not fit, so nothing was changed. {fault}")


def _state(entry: RegistryEntry) -> str:
    if entry.revoked_at is None:
        return "in force"
    ending = f"until {_time(entry.revoked_at)}" if entry.in_force else f"revoked {_time(entry.revoked_at)}"
    return f"{ending}, replaced by {entry.replaced_by}" if entry.replaced_by else ending


def _time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
