"""What a data folder made by the demo says of itself: the identity provider's port and the web client's secret."""

import json
import os
import secrets
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

from demo.people import ORGS
from tenancy.errors import SetupError
from tenancy.settings import DEMO_MARKER

_PORT_DISTANCE = 10_000
_PORTS_TRIED = 50
_PORT_MOST = 65_535


@dataclass(frozen=True)
class DemoFolder:
    """The demo's own settings, kept so that issuers, and with them people, stay the same over restarts."""

    provider_port: int
    web_client_secret: str
    orgs: tuple[dict[str, str], ...] = tuple({"slug": org.slug, "name": org.display_name} for org in ORGS)

    @property
    def provider_url(self) -> str:
        """Where the identity provider listens; each org's issuer is one path below."""
        return f"http://127.0.0.1:{self.provider_port}"


def read_demo_folder(data_folder: Path) -> DemoFolder | None:
    """Return what the folder says, or None when no demo made it."""
    try:
        return DemoFolder(**json.loads((data_folder / DEMO_MARKER).read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise SetupError(
            f"{data_folder / DEMO_MARKER} can't be read. Nothing was changed. Restore it, or use another "
            "KEEPLINE_DATA_DIR for a new demo."
        ) from error


def prepare_demo_folder(data_folder: Path, web_port: int) -> DemoFolder:
    """Return the folder's settings; the first time, choose a free port for the identity provider and keep it.

    Raises:
        SetupError: the folder holds data that no demo made.

    """
    known = read_demo_folder(data_folder)
    if known is not None:
        return known
    if (data_folder / "postgres").exists():
        raise SetupError(
            f"The data folder {data_folder} was not made by the demo, so the demo does not open it to everybody. "
            "Use another KEEPLINE_DATA_DIR, or start without KEEPLINE_DEMO."
        )
    demo = DemoFolder(_free_port(web_port), secrets.token_urlsafe(32))
    data_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = data_folder / f".{DEMO_MARKER}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(demo), file)
    draft.replace(data_folder / DEMO_MARKER)
    return demo


def _free_port(web_port: int) -> int:
    """Choose a port away from those that other demos' web servers take."""
    first = (
        web_port + _PORT_DISTANCE
        if web_port + _PORT_DISTANCE + _PORTS_TRIED < _PORT_MOST
        else web_port - _PORT_DISTANCE
    )
    for port in range(first, first + _PORTS_TRIED):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise SetupError(f"No port between {first} and {first + _PORTS_TRIED} is free for the demo's identity provider.")
