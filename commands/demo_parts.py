"""What `keepline run` adds for the demo: its folder, its orgs, its identity provider, its people's names."""

import click

from commands.run import KEEPLINE, answers
from commands.supervisor import Child
from demo.folder import DemoFolder, prepare_demo_folder
from demo.people import ORGS, people_of
from demo.seed import seed_demo
from tenancy.database import operator_login
from tenancy.keys import SecretBox
from tenancy.migrate import as_maintainer
from tenancy.services import create_clock
from tenancy.settings import Settings, ensure_keys, environment_for


def prepare_demo(settings: Settings) -> DemoFolder:
    """Mark the data folder as the demo's and return what it keeps.

    Raises:
        SetupError: the folder holds data that no demo made.

    """
    return prepare_demo_folder(settings.data_folder, settings.port)


def seed(settings: Settings) -> None:
    """Make the demo's orgs, where they are not there yet."""
    demo, (secret_key, _) = prepare_demo(settings), ensure_keys(settings)
    box, now = SecretBox(secret_key), create_clock(settings).now()
    as_maintainer(operator_login(settings), lambda connection: seed_demo(connection, demo, box, now))


def demo_child(settings: Settings) -> Child:
    """Return the identity provider's process."""
    discovery = f"{prepare_demo(settings).provider_url}/{ORGS[0].slug}/.well-known/openid-configuration"
    return Child(
        "identity provider", [*KEEPLINE, "demo", "provider"], environment_for(settings), lambda: answers(discovery)
    )


def announce_people() -> None:
    """Print who can sign in."""
    for org in ORGS:
        click.echo(f"\n  {org.display_name} (short name {org.slug})")
        for person in people_of(org):
            click.echo(f"    {person.login_name:<18} {person.display_name}")
    click.echo("\nA token: .venv/bin/keepline token member    Stop: Ctrl-C")
