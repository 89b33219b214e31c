"""keepline serve: the web processes."""

import os
import sys

import click

from tenancy.settings import PROJECT_FOLDER


@click.command()
def command() -> None:
    """Serve pages and calls, with gunicorn, until SIGTERM."""
    configuration = str(PROJECT_FOLDER / "gunicorn.conf.py")
    os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "--config", configuration])  # noqa: S606 - our own program
