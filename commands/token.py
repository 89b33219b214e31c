"""keepline token: an access token of a demo person, through the identity provider."""

import click

from tenancy.errors import SetupError
from tenancy.settings import read_settings


@click.command()
@click.argument("name")
@click.option(
    "--as", "kind", type=click.Choice(["assistant", "user"]), default="assistant", show_default=True,
    help="The demo's assistant, or a program that acts as the person.",
)  # fmt: skip
def command(name: str, kind: str) -> None:
    """Print an access token of the demo person NAME, valid for an hour."""
    from demo.folder import read_demo_folder
    from demo.people import UnknownPersonError
    from demo.seed import ASSISTANT_CLIENT, USER_CLIENT
    from demo.tokens import TokenRefusedError, fetch_token

    demo = read_demo_folder(read_settings().data_folder)
    if demo is None:
        raise SetupError("Tokens can be had here only of the demo's people. Start the demo with make run.")
    try:
        click.echo(fetch_token(demo.provider_url, name, ASSISTANT_CLIENT if kind == "assistant" else USER_CLIENT))
    except (UnknownPersonError, TokenRefusedError) as error:
        raise SetupError(str(error.args[0])) from error
