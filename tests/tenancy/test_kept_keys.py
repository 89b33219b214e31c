"""The embedded server's keys are made once, in the data folder, for its own user alone."""

import stat
import threading
from pathlib import Path

import pytest

from tenancy.errors import SetupError
from tenancy.setting_values import KeyPair
from tenancy.settings import ensure_keys, read_settings

GIVEN = "g" * 32


def _keys(folder: Path, **values: str) -> tuple[KeyPair, KeyPair]:
    return ensure_keys(read_settings({"KEEPLINE_DATA_DIR": str(folder), **values}))


def test_keys_are_made_once_and_stay(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    secret_key, identity_key = _keys(folder)
    assert secret_key.current != identity_key.current
    assert len(secret_key.current) == len(identity_key.current) == 64
    assert secret_key.previous is identity_key.previous is None
    assert _keys(folder) == (secret_key, identity_key)


def test_two_folders_have_keys_of_their_own(tmp_path: Path) -> None:
    assert _keys(tmp_path / "one")[0] != _keys(tmp_path / "two")[0]


def test_nobody_else_reads_them(tmp_path: Path) -> None:
    _keys(tmp_path)
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "keys").iterdir()}
    assert files == {"secret_key": 0o600, "identity_key": 0o600}


def test_processes_that_start_together_have_the_same(tmp_path: Path) -> None:
    start, made = threading.Barrier(8), []

    def work() -> None:
        start.wait()
        made.append(_keys(tmp_path))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len(set(made)) == 1
    assert {path.name for path in (tmp_path / "keys").iterdir()} == {"secret_key", "identity_key"}


def test_a_given_key_goes_before_the_kept_one(tmp_path: Path) -> None:
    kept_secret, kept_identity = _keys(tmp_path)
    assert _keys(tmp_path, KEEPLINE_SECRET_KEY=GIVEN) == (KeyPair(GIVEN.encode(), None), kept_identity)
    assert _keys(tmp_path)[0] == kept_secret


def test_a_damaged_key_is_not_replaced(tmp_path: Path) -> None:
    """A new one in its place would make every digest and sealed value unreadable in silence."""
    _keys(tmp_path)
    (tmp_path / "keys" / "secret_key").write_text("")
    with pytest.raises(SetupError, match="has 0 characters"):
        _keys(tmp_path)
    assert (tmp_path / "keys" / "secret_key").read_text() == ""
