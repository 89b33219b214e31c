"""keepline org: making organisations."""

import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import click
import psycopg

from tenancy.database import operator_login
from tenancy.errors import SetupError
from tenancy.keys import SecretBox
from tenancy.migrate import as_maintainer
from tenancy.registration import ProviderSettings, add_org, connect_provider
from tenancy.services import create_clock
from tenancy.settings import Settings, ensure_keys, read_settings


@click.group()
def command() -> None:
    """Organisations."""


@command.command()
@click.argument("slug")
@click.option("--name", required=True, help="The name that pages show.")
@click.option("--issuer", required=True, help="The identity provider's issuer, exactly as its tokens name it.")
@click.option("--audience", required=True, help="The audience of access tokens for Keepline.")
@click.option("--client-id", required=True, help="The client by which people sign in on the pages.")
@click.option("--client-secret-file", type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True))
@click.option("--claim", help="NAME=VALUE that tells this org's tokens apart where orgs share issuer and audience.")
@click.option("--scopes", default="openid profile email", show_default=True, help="What a sign-in asks for.")
def add(
    slug: str,
    name: str,
    issuer: str,
    audience: str,
    client_id: str,
    client_secret_file: Path | None,
    claim: str | None,
    scopes: str,
) -> None:
    """Make the org SLUG and connect its identity provider."""
    settings = read_settings()
    _refuse_plain_http(settings, issuer)
    secret_key, _ = ensure_keys(settings)
    claim_name, _, claim_value = (claim or "").partition("=")
    provider = ProviderSettings(
        issuer,
        audience,
        client_id,
        _sealed(client_secret_file, SecretBox(secret_key)),
        claim_name,
        claim_value,
        scopes,
    )
    now = create_clock(settings).now()

    def act(connection: psycopg.Connection[Any]) -> UUID:
        org_id = add_org(connection, slug, name, now)
        connect_provider(connection, org_id, provider, now)
        return org_id

    org_id = as_maintainer(operator_login(settings), act)
    click.echo(f"The org {slug} is made: {org_id}")
    click.echo(f"Its identity provider needs the redirect address {settings.public_url}/login/callback")


def _refuse_plain_http(settings: Settings, issuer: str) -> None:
    parts = urlsplit(issuer)
    if not parts.hostname or (parts.scheme != "https" and not settings.demo):
        raise SetupError("An issuer must be an https address. Nothing was made.")


def _sealed(path: Path | None, box: SecretBox) -> bytes | None:
    if path is None:
        return None
    text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    if not text.strip():
        raise SetupError("The client secret is empty. Nothing was made.")
    return box.seal(text.strip().encode())
