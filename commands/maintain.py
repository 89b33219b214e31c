"""keepline maintain: what has to happen in time, across orgs."""

import logging

import click
import psycopg

from commands.waiting import repeat_until_stopped
from memory.audit.retention import remove_expired_details
from tenancy.database import operator_login
from tenancy.errors import SetupError
from tenancy.migrate import as_maintainer, refuse_wrong_login
from tenancy.registration import remove_ended_sessions
from tenancy.services import create_clock
from tenancy.settings import read_settings

logger = logging.getLogger(__name__)
_PAUSE_SECONDS = 60


@click.command()
def command() -> None:
    """Remove what is due, once a minute, until SIGTERM."""
    settings = read_settings()
    login, clock = operator_login(settings), create_clock(settings)
    refuse_wrong_login(login)

    def remove_what_is_due() -> None:
        try:
            as_maintainer(login, lambda connection: remove_expired_details(connection, clock.now()))
            as_maintainer(login, remove_ended_sessions)
        except (SetupError, psycopg.Error) as error:
            logger.warning("Maintenance did not finish and is tried again: %s", error)

    repeat_until_stopped(remove_what_is_due, _PAUSE_SECONDS)
