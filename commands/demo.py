"""keepline demo: the clock and the identity provider of the demo."""

import re
from datetime import timedelta

import click

from tenancy.clock import read_shift
from tenancy.database import operator_login
from tenancy.errors import SetupError
from tenancy.migrate import shift_clock
from tenancy.services import clock_shift_file, create_clock
from tenancy.settings import Settings, read_settings

_FARTHEST = timedelta(days=36_500)
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


@click.group()
def command() -> None:
    """The demo's own commands."""


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("shift")
def clock(shift: str) -> None:
    """Move the clock of what is stored by SHIFT, such as +91d, +2h or -1d; 0 sets it right again.

    Shifts add up. Credentials live by the real time and are never moved.
    """
    settings = _demo_settings()
    path = clock_shift_file(settings)
    seconds = _shifted_seconds(shift, read_shift(path).total_seconds())
    shift_clock(operator_login(settings), seconds)
    draft = path.with_name(f".{path.name}")
    draft.write_text(f"{seconds}", "ascii")
    draft.replace(path)
    click.echo(f"The demo's time is now {create_clock(settings).now():%Y-%m-%d %H:%M} UTC.")


@command.command(hidden=True)
def provider() -> None:
    """Serve the demo's identity provider on loopback, until SIGTERM."""
    from demo.folder import prepare_demo_folder
    from demo.provider import serve_provider

    settings = _demo_settings()
    demo = prepare_demo_folder(settings.data_folder, settings.port)
    serve_provider(
        demo.provider_port,
        settings.data_folder / "identity-provider",
        settings.public_url,
        demo.web_client_secret,
    )


def _demo_settings() -> Settings:
    settings = read_settings()
    if not settings.demo:
        raise SetupError(
            "This is a command of the demo, and the data folder is not one of a demo. Nothing was changed."
        )
    return settings


def _shifted_seconds(shift: str, before: float) -> float:
    if shift == "0":
        return 0.0
    found = re.fullmatch(r"([+-])(\d{1,5})([dhms])", shift)
    if found is None:
        raise SetupError(f"{shift!r} is not a shift. Write it like +91d, +2h, -1d, or 0. Nothing was changed.")
    sign, number, unit = found.groups()
    moved = timedelta(**{_UNITS[unit]: int(number)}).total_seconds()
    shifted = before + (moved if sign == "+" else -moved)
    if abs(shifted) > _FARTHEST.total_seconds():
        raise SetupError("The demo's clock can be moved by at most 100 years. Nothing was changed.")
    return shifted
