"""The OS user the embedded server runs as."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenancy.embedded.errors import EmbeddedServerError

# PostgreSQL refuses to run as root. The name is the one the package uses, so that both share one user.
_ACCOUNT_OF_ROOT = "pgserver"


@dataclass(frozen=True)
class Account:
    """An OS user: the one the server runs as, and the one that runs Keepline."""

    name: str
    user_id: int
    group_id: int

    @property
    def differs(self) -> bool:
        """Whether processes have to switch user to become this one."""
        return self.user_id != os.geteuid()

    def process_options(self) -> dict[str, Any]:
        """Return the subprocess options under which a program of PostgreSQL runs as this user.

        The environment is written out: Keepline's own holds keys that another user has no need of. The
        working folder is the root folder, because this user need not be able to enter ours.
        """
        options: dict[str, Any] = {
            "cwd": "/",
            "env": {"LC_ALL": "C.UTF-8", "PATH": os.defpath, "TZ": "UTC"},
            "stdin": subprocess.DEVNULL,
            "umask": 0o077,
        }
        if self.differs:
            options |= {"user": self.user_id, "group": self.group_id, "extra_groups": []}
        return options


def current_account() -> Account:
    """Return the OS user that runs this process; raises EmbeddedServerError when it has no name."""
    return _account(os.geteuid())


def _account(user_id: int) -> Account:
    try:
        entry = pwd.getpwuid(user_id)
    except KeyError:
        raise EmbeddedServerError(
            f"The user id {user_id} has no name on this system, and PostgreSQL knows callers by name. "
            "Nothing was changed. Add the user to the system, or run Keepline as one that is there."
        ) from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def server_account(cluster: Path) -> Account:
    """Return the OS user the server of `cluster` runs as.

    That is the user that runs Keepline; under root the owner of the cluster, or `pgserver`, made if absent.
    Raises EmbeddedServerError when the cluster belongs to somebody else.
    """
    runner = current_account()
    owner = cluster.stat().st_uid if cluster.exists() else None
    if runner.user_id == 0:
        if owner:
            return _account(owner)
        return _account_of_root()
    if owner is not None and owner != runner.user_id:
        raise EmbeddedServerError(
            f"The database in {cluster} belongs to user id {owner}, and Keepline runs as {runner.name}. "
            "It was left as it is. Start Keepline as the user that made it, or choose another data folder."
        )
    return runner


def _account_of_root() -> Account:
    try:
        entry = pwd.getpwnam(_ACCOUNT_OF_ROOT)
    except KeyError:
        program = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
        if program is None:
            raise EmbeddedServerError(
                f"PostgreSQL does not run as root, and no useradd is there to make {_ACCOUNT_OF_ROOT}. "
                "Nothing was changed. Make that user, or run Keepline as an ordinary user."
            ) from None
        made = subprocess.run(  # noqa: S603 - fixed arguments
            [program, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _ACCOUNT_OF_ROOT],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode != 0:
            raise EmbeddedServerError(
                f"PostgreSQL does not run as root, and the user {_ACCOUNT_OF_ROOT} could not be made: "
                f"{made.stderr.strip()}. Nothing was changed. "
                "Make that user, or run Keepline as an ordinary user."
            ) from None
        entry = pwd.getpwnam(_ACCOUNT_OF_ROOT)
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
