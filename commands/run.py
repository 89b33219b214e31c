"""keepline run: database, migrate, identity provider (demo), web, worker and maintenance, until stopped."""

import sys
from contextlib import ExitStack

import click
import httpx2
import psycopg

from commands.serve import GUNICORN
from commands.supervisor import Child, StopRequest, Supervisor
from demo.folder import prepare_demo_folder
from demo.people import ORGS, people_of
from demo.seed import seed_demo
from tenancy.database import operator_login
from tenancy.embedded import EmbeddedServer
from tenancy.keys import SecretBox, signing_keys
from tenancy.migrate import as_maintainer, migrate, roles_sql
from tenancy.services import create_clock
from tenancy.settings import Settings, ensure_keys, environment_for, read_settings


@click.command()
def command() -> None:
    """Run everything on this machine, until Ctrl-C or SIGTERM."""
    settings = read_settings()
    for name in settings.unknown_names:
        click.echo(f"keepline: {name} is not a setting of Keepline and is ignored.", err=True)
    with StopRequest() as stop, ExitStack() as stack:
        sys.exit(_run(settings, stop, stack))


def _run(settings: Settings, stop: StopRequest, stack: ExitStack) -> int:
    demo = prepare_demo_folder(settings.data_folder, settings.port) if settings.demo else None
    secret_key, identity_key = ensure_keys(settings)
    server = stack.enter_context(EmbeddedServer(settings.data_folder)) if settings.embedded else None
    if server is not None:
        _prepare_embedded(server)
    clock = create_clock(settings)
    login = operator_login(settings)
    migrate(login, signing_keys(identity_key))
    if demo is not None:
        box = SecretBox(secret_key)
        as_maintainer(login, lambda connection: seed_demo(connection, demo, box, clock.now()))
    supervisor = Supervisor(
        _children(settings, demo.provider_url if demo else None),
        lambda: _announce(settings),
        tend=server.ensure_running if server else lambda: None,
        stop=stop,
    )
    return supervisor.run()


def _prepare_embedded(server: EmbeddedServer) -> None:
    """Make the database and its roles; the superuser is used for this alone."""
    server.create_database()
    with psycopg.connect(server.conninfo("postgres"), autocommit=True) as connection:
        connection.execute(roles_sql().encode())


def _children(settings: Settings, provider_url: str | None) -> list[Child]:
    """List the processes; what a person waits for starts first, and the rest when it answers."""
    environment = environment_for(settings)
    keepline = (sys.executable, "-m", "commands.main")
    ready = f"http://127.0.0.1:{settings.port}/readyz"
    children = [
        Child("web", GUNICORN, environment, lambda: _answers(ready)),
        Child("worker", [*keepline, "worker"], environment, stage=1),
        Child("maintenance", [*keepline, "maintain"], environment, stage=1),
    ]
    if provider_url is not None:
        discovery = f"{provider_url}/{ORGS[0].slug}/.well-known/openid-configuration"
        provider = [*keepline, "demo", "provider"]
        children.append(Child("identity provider", provider, environment, lambda: _answers(discovery)))
    return children


def _answers(address: str) -> bool:
    try:
        return httpx2.get(address, timeout=1, trust_env=False).status_code == httpx2.codes.OK
    except httpx2.HTTPError:
        return False


def _announce(settings: Settings) -> None:
    click.echo(f"Keepline is ready at {settings.public_url}")
    if not settings.demo:
        return
    for org in ORGS:
        click.echo(f"\n  {org.display_name} (short name {org.slug})")
        for person in people_of(org):
            click.echo(f"    {person.login_name:<18} {person.display_name}")
    click.echo("\nA token: keepline token member    Stop: Ctrl-C")
    sys.stdout.flush()
