"""keepline worker: background jobs."""

import click

from commands.waiting import repeat_until_stopped
from tenancy.database import refuse_shared_backends, refuse_unsafe_login, worker_login
from tenancy.settings import read_settings

_PAUSE_SECONDS = 60


@click.command()
def command() -> None:
    """Work on background jobs until SIGTERM."""
    settings = read_settings()
    refuse_unsafe_login(worker_login(settings), strict_floor=settings.strict_floor)
    refuse_shared_backends(worker_login(settings), "The worker")
    repeat_until_stopped(lambda: None, _PAUSE_SECONDS)
