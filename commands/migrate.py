"""keepline migrate: tables, functions, policies and keys as this code needs them."""

import click

from tenancy.database import operator_login
from tenancy.keys import signing_keys
from tenancy.migrate import expected_revision, migrate, roles_sql
from tenancy.settings import ensure_keys, read_settings


@click.command()
@click.option("--print-roles", is_flag=True, help="Print the SQL that a superuser runs once, and do nothing else.")
def command(print_roles: bool) -> None:
    """Bring the database to this code's state; safe to run again."""
    if print_roles:
        click.echo(roles_sql(), nl=False)
        return
    settings = read_settings()
    _, identity_key = ensure_keys(settings)
    migrate(operator_login(settings), signing_keys(identity_key))
    click.echo(f"The database is at revision {expected_revision()}; functions, policies and keys were applied anew.")
