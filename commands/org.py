"""keepline org: making organisations, and looking at the identity provider of one."""

import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import click
import psycopg

from admin.identity.rules import (
    ProviderKey,
    client_id_fault,
    is_needed_for_sign_in,
    key_faults,
    rule_from_text,
    rules_faults,
    scopes_fault,
    secret_fault,
)
from admin.rules import Faults, fault_sentences, faults_of, text_fault
from tenancy.database import operator_login
from tenancy.errors import SetupError
from tenancy.keys import SecretBox
from tenancy.migrate import as_maintainer
from tenancy.oidc import Finding, OpenIDProviders
from tenancy.registration import ProviderSettings, add_org, connect_provider
from tenancy.roles import ClaimRule
from tenancy.services import create_clock
from tenancy.setting_values import CLIENT_SECRET_PREFIX
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
@click.option("--client-secret-name", help=f"NAME of a secret that the environment holds: {CLIENT_SECRET_PREFIX}NAME.")
@click.option("--claim", help="NAME=VALUE that tells this org's tokens apart where orgs share issuer and audience.")
@click.option("--scopes", default="openid profile email", show_default=True, help="What a sign-in asks for.")
@click.option(
    "--claim-rule",
    "claim_rules",
    multiple=True,
    help="CLAIM=VALUE:GRANT[:TEAM], repeated; GRANT is member, team, lead, reviewer or admin. Without any, the plain "
    "claims teams and roles count.",
)
def add(
    slug: str,
    name: str,
    issuer: str,
    audience: str,
    client_id: str,
    client_secret_file: Path | None,
    client_secret_name: str | None,
    claim: str | None,
    scopes: str,
    claim_rules: tuple[str, ...],
) -> None:
    """Make the org SLUG and connect its identity provider.

    A provider that does not answer as it should is a warning: the org is made all the same.
    """
    settings = read_settings()
    _refuse_plain_http(settings, issuer)
    if client_secret_file and client_secret_name:
        raise SetupError("A client secret is kept here or in the environment, not both. Nothing was made.")
    if client_secret_name and client_secret_name.endswith("_FILE"):
        raise SetupError("A name that ends in _FILE would be read as a file's. Nothing was made; choose another name.")
    secret_key, _ = ensure_keys(settings)
    claim_name, _, claim_value = (claim or "").partition("=")
    rules = _rules(claim_rules)
    _refuse_faults(
        {
            **faults_of(name=text_fault(name), client_id=client_id_fault(client_id), scopes=scopes_fault(scopes)),
            **key_faults(ProviderKey(issuer, audience, claim_name, claim_value)),
            **rules_faults(rules),
        }
    )
    provider = ProviderSettings(
        issuer,
        audience,
        client_id,
        _sealed(client_secret_file, SecretBox(secret_key)),
        claim_name,
        claim_value,
        scopes,
        rules,
        client_secret_name,
    )
    now = create_clock(settings).now()

    def act(connection: psycopg.Connection[Any]) -> UUID:
        org_id = add_org(connection, slug, name, now)
        connect_provider(connection, org_id, provider, now)
        return org_id

    org_id = as_maintainer(operator_login(settings), act)
    click.echo(f"The org {slug} is made: {org_id}")
    click.echo(f"Its identity provider needs the redirect address {settings.public_url}/login/callback")
    if client_secret_name and client_secret_name not in settings.client_secrets:
        _warn(f"{CLIENT_SECRET_PREFIX}{client_secret_name} is not set here. Nobody can sign in before the web has it.")
    for finding in _examine(settings, issuer):
        if not finding.ok and is_needed_for_sign_in(finding.subject):
            _warn(f"{finding.subject}: {finding.sentence}")


@command.command("test-provider")
@click.argument("issuer")
def test_provider(issuer: str) -> None:
    """Read what the identity provider ISSUER publishes and say, point by point, whether Keepline can work with it.

    The exit code is 1 where nobody could sign in.
    """
    findings = _examine(read_settings(), issuer)
    for finding in findings:
        click.echo(f"{'ok' if finding.ok else 'not ok':<8}{finding.subject}: {finding.sentence}")
    if any(not finding.ok and is_needed_for_sign_in(finding.subject) for finding in findings):
        sys.exit(1)


def _examine(settings: Settings, issuer: str) -> list[Finding]:
    secret_key, _ = ensure_keys(settings)
    providers = OpenIDProviders(create_clock(settings), SecretBox(secret_key), allow_loopback=settings.demo)
    return providers.examine(issuer)


def _rules(texts: tuple[str, ...]) -> tuple[ClaimRule, ...]:
    rules = []
    for text in texts:
        rule = rule_from_text(text)
        if rule is None:
            raise SetupError(
                f"{text!r} is not a claim rule. Write it like groups=admins:admin or groups=ops:team:Operations. "
                "Nothing was made."
            )
        rules.append(rule)
    return tuple(rules)


def _refuse_faults(faults: Faults) -> None:
    if faults:
        raise SetupError(f"{fault_sentences(faults)} Nothing was made.")


def _warn(sentence: str) -> None:
    click.echo(f"keepline: warning: {sentence}", err=True)


def _refuse_plain_http(settings: Settings, issuer: str) -> None:
    parts = urlsplit(issuer)
    if not parts.hostname or (parts.scheme != "https" and not settings.demo):
        raise SetupError("An issuer must be an https address. Nothing was made.")


def _sealed(path: Path | None, box: SecretBox) -> bytes | None:
    if path is None:
        return None
    text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    secret = text.strip()
    if not secret:
        raise SetupError("The client secret is empty. Nothing was made.")
    _refuse_faults(faults_of(client_secret=secret_fault(secret)))
    return box.seal(secret.encode())
