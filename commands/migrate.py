"""keepline migrate: tables, functions, policies and keys as this code needs them."""

import click

from tenancy.database import operator_login
from tenancy.keys import SecretBox, signing_keys
from tenancy.migrate import as_maintainer, expected_revision, migrate, roles_sql
from tenancy.registration import reseal_client_secrets
from tenancy.settings import Settings, ensure_keys, read_settings


@click.command()
@click.option("--print-roles", is_flag=True, help="Print the SQL that a superuser runs once, and do nothing else.")
def command(print_roles: bool) -> None:
    """Bring the database to this code's state; safe to run again."""
    if print_roles:
        click.echo(roles_sql(), nl=False)
        return
    settings = read_settings()
    bring_up_to_date(settings)
    click.echo(
        f"The database is at revision {expected_revision()}; functions, policies and keys are as this code needs them."
    )


def bring_up_to_date(settings: Settings) -> None:
    """Migrate; while the secret key is being rotated, also seal anew what the previous one sealed."""
    login = operator_login(settings)
    secret_key, identity_key = ensure_keys(settings)
    migrate(login, signing_keys(identity_key))
    if secret_key.previous is not None:
        box = SecretBox(secret_key)
        as_maintainer(login, lambda connection: reseal_client_secrets(connection, box))
