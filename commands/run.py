"""keepline run: database, migrate, web, worker and maintenance (and the demo's parts), until stopped."""

import socket
import sys
from contextlib import ExitStack

import click
import httpx2
import psycopg

from commands.migrate import bring_up_to_date
from commands.serve import GUNICORN
from commands.supervisor import Child, StopRequest, Supervisor
from tenancy.embedded import EmbeddedServer
from tenancy.errors import SetupError
from tenancy.migrate import roles_sql
from tenancy.settings import Settings, environment_for, read_settings

KEEPLINE = (sys.executable, "-m", "commands.main")


@click.command()
def command() -> None:
    """Run everything on this machine, until Ctrl-C or SIGTERM."""
    settings = read_settings()
    for name in settings.unknown_names:
        click.echo(f"keepline: {name} is not a setting of Keepline and is ignored.", err=True)
    with StopRequest() as stop, ExitStack() as stack:
        sys.exit(_run(settings, stop, stack))


def _run(settings: Settings, stop: StopRequest, stack: ExitStack) -> int:
    _refuse_taken_port(settings.port)
    if settings.demo:
        # Imported here, so that a start for real never loads what signs people in without a password.
        from commands.demo_parts import announce_people, demo_child, prepare_demo, seed

        prepare_demo(settings)
    server = stack.enter_context(EmbeddedServer(settings.data_folder)) if settings.embedded else None
    if server is not None:
        _prepare_embedded(server)
    bring_up_to_date(settings)
    children = _children(settings)
    if settings.demo:
        seed(settings)
        children.append(demo_child(settings))

    def announce() -> None:
        click.echo(f"Keepline is ready at {settings.public_url}")
        if settings.demo:
            announce_people()
        sys.stdout.flush()

    tend = server.ensure_running if server else lambda: None
    return Supervisor(children, announce, tend=tend, stop=stop).run()


def _prepare_embedded(server: EmbeddedServer) -> None:
    """Make the database and its roles; the superuser is used for this alone."""
    server.create_database()
    with psycopg.connect(server.conninfo("postgres"), autocommit=True) as connection:
        connection.execute(roles_sql().encode())


def _children(settings: Settings) -> list[Child]:
    """List the processes; what a person waits for starts first, and the rest when it answers."""
    environment = environment_for(settings)
    return [
        Child("web", GUNICORN, environment, lambda: answers(f"http://127.0.0.1:{settings.port}/readyz")),
        Child("worker", [*KEEPLINE, "worker"], environment, stage=1),
        Child("maintenance", [*KEEPLINE, "maintain"], environment, stage=1),
    ]


def answers(address: str) -> bool:
    """Return whether an address of this machine answers that all is well."""
    try:
        return httpx2.get(address, timeout=1, trust_env=False).status_code == httpx2.codes.OK
    except httpx2.HTTPError:
        return False


def _refuse_taken_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise SetupError(
                f"Port {port} of this machine is taken. Nothing was started. Stop what uses it, or set KEEPLINE_PORT."
            ) from error
