"""keepline serve: the web processes."""

import os
import sys

import click

from tenancy.settings import PROJECT_FOLDER

GUNICORN = (sys.executable, "-m", "gunicorn", "--config", str(PROJECT_FOLDER / "gunicorn.conf.py"))


@click.command()
def command() -> None:
    """Serve pages and calls, with gunicorn, until SIGTERM."""
    os.execv(GUNICORN[0], GUNICORN)  # noqa: S606 - our own program
