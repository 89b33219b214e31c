"""keepline psql: a shell of the database, as the app's role or as the owner."""

import os
import shutil

import click
from psycopg.conninfo import make_conninfo

from tenancy.database import operator_login, web_login
from tenancy.embedded import program
from tenancy.settings import read_settings


@click.command()
@click.option("--role", type=click.Choice(["app", "owner"]), default="app", show_default=True)
@click.option("--print", "print_only", is_flag=True, help="Print the libpq connection string instead.")
def command(role: str, print_only: bool) -> None:
    """Open psql as the web's role, which sees nothing without an identity, or as the tables' owner."""
    settings = read_settings()
    if role == "app":
        conninfo = web_login(settings).conninfo
    else:
        # The login inherits nothing; the owner is taken on for the session.
        conninfo = make_conninfo(operator_login(settings).conninfo, options="-c role=keepline_owner")
    if print_only:
        click.echo(conninfo)
        return
    psql = shutil.which("psql") or str(program("psql"))
    os.execv(psql, [psql, conninfo])  # noqa: S606 - the user's own shell
