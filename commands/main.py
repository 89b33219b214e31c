"""The entry point: one command a file, loaded when it is called, and sentences instead of traces."""

import importlib
import logging
import sys
from typing import Any

import click

from tenancy.embedded import EmbeddedServerError
from tenancy.errors import DomainError, SetupError

_COMMANDS = {
    "run": "commands.run",
    "serve": "commands.serve",
    "worker": "commands.worker",
    "maintain": "commands.maintain",
    "migrate": "commands.migrate",
    "token": "commands.token",
    "psql": "commands.psql",
    "demo": "commands.demo",
    "org": "commands.org",
    "client": "commands.client",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that a short one starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click passes it
        """Return the names in the order of the table."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click passes it
        """Import and return one command."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name]).command
        return command


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Keepline: the long-term memory of a company's shared AI assistant."""


def main(arguments: list[str] | None = None) -> Any:
    """Run one command; what can be told is told in a sentence, with exit code 1."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    try:
        return cli.main(args=arguments, prog_name="keepline")
    except (SetupError, EmbeddedServerError) as error:
        click.echo(f"keepline: {error}", err=True)
    except DomainError as error:
        click.echo(f"keepline: {error.detail}", err=True)
    return sys.exit(1)


if __name__ == "__main__":
    main()
