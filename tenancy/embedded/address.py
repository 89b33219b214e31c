"""Where the embedded server listens, and how to log in there."""

import hashlib
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import make_conninfo

from tenancy.embedded.cluster import PORT
from tenancy.embedded.errors import EmbeddedServerError
from tenancy.embedded.postmaster import read_postmaster

# macOS allows 104 bytes with the closing zero, Linux 108; one limit keeps the choice the same on both.
_MAX_SOCKET_PATH_BYTES = 103


@dataclass(frozen=True)
class Address:
    """The socket of a server."""

    socket_folder: Path
    port: int = PORT

    @property
    def socket(self) -> Path:
        """The path of the socket itself."""
        return self.socket_folder / f".s.PGSQL.{self.port}"

    def conninfo(self, role: str, database: str = "keepline") -> str:
        """Return the libpq connection string that logs in as `role` from any shell of the same OS user."""
        return make_conninfo(host=str(self.socket_folder), port=self.port, user=role, dbname=database)


def choose_address(folder: Path) -> Address:
    """Return where the server of the data folder `folder` is to listen.

    In `folder` itself, unless the path is too long for a socket or cannot stand in a list of hosts, as libpq
    reads its `host`: then in a short folder under the temporary folder, named after the data folder.
    Raises EmbeddedServerError when even that is too long.
    """
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    for candidate in (folder / "socket", Path(tempfile.gettempdir()).resolve() / f"keepline-{digest}"):
        address = Address(candidate)
        text = str(address.socket)
        if len(text.encode()) <= _MAX_SOCKET_PATH_BYTES and text.isprintable() and not set(text) & set(',"'):
            return address
    raise EmbeddedServerError(
        f"The paths of the data folder {folder} and of the temporary folder are too long for a socket "
        f"({_MAX_SOCKET_PATH_BYTES} bytes). Nothing was started. Set KEEPLINE_DATA_DIR to a shorter path."
    )


def cluster_folder(folder: Path) -> Path:
    """Return the folder of the cluster in a data folder."""
    return folder / "postgres"


def locate(folder: Path) -> Address:
    """Return where the running server of the data folder `folder` listens, without starting one.

    Raises EmbeddedServerError when none answers, or when this OS user may not know.
    """
    try:
        postmaster = read_postmaster(cluster_folder(folder.resolve()))
        if postmaster is not None and postmaster.ready:
            # What the server itself wrote: the temporary folder of this shell may be another one.
            address = Address(postmaster.socket_folder, postmaster.port)
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(str(address.socket))
            return address
    except PermissionError:
        raise EmbeddedServerError(
            f"The database in {folder} belongs to another user of this system. Nothing was changed. "
            "Run the command as the user that runs Keepline."
        ) from None
    except OSError:
        pass  # the server is gone and left its notes behind
    raise EmbeddedServerError(
        f"The database of the data folder {folder} is not running. Nothing was changed. Start it with make run."
    )
