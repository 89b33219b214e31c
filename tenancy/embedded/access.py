"""What the OS user of the embedded server may pass, read and own."""

import logging
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from tenancy.embedded.account import Account
from tenancy.embedded.errors import EmbeddedServerError

_logger = logging.getLogger(__name__)


def let_pass(account: Account, path: Path) -> None:
    """Let `account` pass the folders above `path`, by search permission alone: it cannot list them."""
    if not account.differs:
        return
    for folder in reversed(path.parents):
        missing = _missing(account, folder, stat.S_IXUSR)
        if missing:
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | missing)
            _logger.warning("Opened %s for the database server to pass; its contents stay unlisted.", folder)


def let_read(account: Account, tree: Path) -> None:
    """Let `account` read everything in `tree` and run what its owner may run; for programs, not for data."""
    if not account.differs:
        return
    opened = 0
    for path in [tree, *tree.rglob("*")]:
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        missing = _missing(account, path, stat.S_IRUSR | (mode & stat.S_IXUSR))
        if missing:
            path.chmod(stat.S_IMODE(mode) | missing)
            opened += 1
    if opened:
        _logger.warning("Opened %d files and folders in %s for the database server to read.", opened, tree)


def _missing(account: Account, path: Path, need: int) -> int:
    """Return the mode bits that `path` lacks for `account` to have `need` (stated as the owner's bits)."""
    status = path.stat()
    # As the kernel decides: the first class that fits is the only one that counts.
    if account.user_id == status.st_uid:
        shift = 0
    elif account.group_id == status.st_gid:
        shift = 3
    else:
        shift = 6
    return (need >> shift) & ~status.st_mode


def make_folder(account: Account, folder: Path) -> None:
    """Make `folder` for `account` alone (mode 0700), or check that it is so.

    Raises EmbeddedServerError when something else is there: another owner, a looser mode, a link.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise _foreign(folder) from error
    try:
        status = os.fstat(handle)
        # Just made, or made by a start that was cut short before it handed the folder over.
        if account.differs and status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == 0o700:
            os.fchown(handle, account.user_id, account.group_id)
            status = os.fstat(handle)
        if status.st_uid != account.user_id or stat.S_IMODE(status.st_mode) != 0o700:
            raise _foreign(folder)
    finally:
        os.close(handle)


def _foreign(folder: Path) -> EmbeddedServerError:
    return EmbeddedServerError(
        f"{folder} is not a folder that the database server alone can enter, so others could listen in. "
        "It was left as it is, and nothing was started. Remove it, then start again."
    )


def write_file(account: Account, path: Path, text: str) -> None:
    """Write `path` for `account` alone (mode 0600), whole or not at all.

    A new file takes the name of the old one: a link of that name is replaced, never followed.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            if account.differs:
                os.fchown(file.fileno(), account.user_id, account.group_id)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
