"""The environment is read once and strictly: a bad value stops the start with a sentence that names it."""

from pathlib import Path

import pytest

from tenancy.errors import SetupError
from tenancy.keys import derive_key
from tenancy.setting_values import KeyPair
from tenancy.settings import DEMO_MARKER, Settings, ensure_keys, read_settings

GOOD, OTHER = "k" * 32, "o" * 40
URLS = {
    "KEEPLINE_DATABASE_URL": "postgresql://keepline_app@db/keepline",
    "KEEPLINE_WORKER_DATABASE_URL": "postgresql://keepline_worker@db/keepline",
    "KEEPLINE_OWNER_DATABASE_URL": "postgresql://keepline_migrate@db/keepline",
}
KEYS = ["KEEPLINE_SECRET_KEY", "KEEPLINE_IDENTITY_KEY"]


def _read(folder: Path, **values: str) -> Settings:
    return read_settings({"KEEPLINE_DATA_DIR": str(folder), **values})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KEEPLINE_PORT", "0"),
        ("KEEPLINE_PORT", "65536"),
        ("KEEPLINE_PORT", "-1"),
        ("KEEPLINE_PORT", "80.0"),
        ("KEEPLINE_PORT", " 8000"),
        ("KEEPLINE_PORT", "8_000"),
        ("KEEPLINE_PORT", "٨٠٠٠"),
        ("KEEPLINE_PORT", "9" * 5_000),
        ("KEEPLINE_PORT", "http"),
        ("KEEPLINE_PUBLIC_URL", "memory.example.com"),
        ("KEEPLINE_PUBLIC_URL", "ftp://memory.example.com"),
        ("KEEPLINE_PUBLIC_URL", "https://"),
        ("KEEPLINE_PUBLIC_URL", "https://memory.example.com/keepline"),
        ("KEEPLINE_PUBLIC_URL", "https://memory.example.com?x=1"),
        ("KEEPLINE_PUBLIC_URL", "https://memory.example.com#x"),
        ("KEEPLINE_PUBLIC_URL", "https://[memory"),
        ("KEEPLINE_PUBLIC_URL", "https://memory.example.com:port"),
        ("KEEPLINE_PUBLIC_URL", "https://memory.example.com:0"),
        ("KEEPLINE_PUBLIC_URL", "https://memory.example.com:65536"),
        ("KEEPLINE_PUBLIC_URL", "https://memory example.com"),
        ("KEEPLINE_PUBLIC_URL", "https://memory.example.com\n"),
        ("KEEPLINE_PUBLIC_URL", "https://somebody@memory.example.com"),
        ("KEEPLINE_DEMO", "yes"),
        ("KEEPLINE_DEMO", "true"),
        ("KEEPLINE_DEMO", "01"),
        ("KEEPLINE_STRICT_FLOOR", "on"),
        ("KEEPLINE_TRUSTED_PROXIES", "11"),
        ("KEEPLINE_TRUSTED_PROXIES", "10.0.0.1"),
        ("KEEPLINE_WEB_WORKERS", "0"),
        ("KEEPLINE_WEB_THREADS", "65"),
    ],
)
def test_a_bad_value_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SetupError, match=f"^{name} is "):
        _read(tmp_path, **{name: value})


def test_nothing_set_is_the_embedded_server_on_loopback(tmp_path: Path) -> None:
    settings = _read(tmp_path)
    assert (settings.port, settings.public_url, settings.embedded) == (8000, "http://127.0.0.1:8000", True)
    assert (settings.demo, settings.strict_floor, settings.served_on_tls, settings.trusted_proxies) == (
        False, False, False, 0,
    )  # fmt: skip
    assert _read(tmp_path, KEEPLINE_PORT="", KEEPLINE_DEMO="", KEEPLINE_PUBLIC_URL="") == settings


def test_good_values_are_taken(tmp_path: Path) -> None:
    settings = _read(
        tmp_path,
        KEEPLINE_PORT="9000",
        KEEPLINE_PUBLIC_URL="https://memory.example.com/",
        KEEPLINE_STRICT_FLOOR="1",
        **URLS,
    )
    assert (settings.port, settings.public_url, settings.served_on_tls) == (9000, "https://memory.example.com", True)
    assert settings.strict_floor
    assert settings.database is not None
    assert list(settings.database.__dict__.values()) == list(URLS.values())


def test_a_name_that_is_no_setting_is_noticed(tmp_path: Path) -> None:
    settings = _read(tmp_path, KEEPLINE_DATABASE_URI="x", KEEPLINE_SECRET_KEYS="x", PATH="x")
    assert settings.unknown_names == ("KEEPLINE_DATABASE_URI", "KEEPLINE_SECRET_KEYS")


@pytest.mark.parametrize("left_out", URLS)
def test_two_of_three_database_urls_are_refused(tmp_path: Path, left_out: str) -> None:
    some = {name: url for name, url in URLS.items() if name != left_out}
    for values in (some, {**some, left_out: ""}):
        with pytest.raises(SetupError, match=f"^{left_out} not set. Set all three database URLs"):
            _read(tmp_path, **values)


def test_a_folder_of_the_demo_stays_the_demos(tmp_path: Path) -> None:
    (tmp_path / DEMO_MARKER).write_text("{}")
    assert _read(tmp_path).demo
    assert _read(tmp_path, KEEPLINE_DEMO="1").demo
    with pytest.raises(SetupError, match=r"^KEEPLINE_DEMO is 0, but the data folder .* was made by the demo"):
        _read(tmp_path, KEEPLINE_DEMO="0")


@pytest.mark.parametrize("name", KEYS)
def test_a_key_comes_from_the_environment_or_a_file(tmp_path: Path, name: str) -> None:
    file, previous_file = tmp_path / "key", tmp_path / "previous"
    file.write_text(f"  {GOOD}\n")
    previous_file.write_text(OTHER)
    given = {
        "both as values": {name: GOOD, f"{name}_PREVIOUS": OTHER},
        "both as files": {f"{name}_FILE": str(file), f"{name}_PREVIOUS_FILE": str(previous_file)},
        "one of each": {name: GOOD, f"{name}_PREVIOUS_FILE": str(previous_file)},
    }
    for values in given.values():
        assert _key_of(_read(tmp_path, **values), name) == KeyPair(GOOD.encode(), OTHER.encode())
    assert _key_of(_read(tmp_path, **{name: GOOD}), name) == KeyPair(GOOD.encode(), None)
    assert KeyPair(GOOD.encode(), OTHER.encode()).accepted == (GOOD.encode(), OTHER.encode())
    assert KeyPair(GOOD.encode(), None).accepted == (GOOD.encode(),)


def _key_of(settings: Settings, name: str) -> KeyPair | None:
    return settings.secret_key if name == "KEEPLINE_SECRET_KEY" else settings.identity_key


@pytest.mark.parametrize("name", KEYS)
def test_a_bad_key_is_named_and_not_shown(tmp_path: Path, name: str) -> None:
    file, short, binary = tmp_path / "key", tmp_path / "short", tmp_path / "binary"
    file.write_text(GOOD)
    short.write_text(GOOD[1:])
    binary.write_bytes(b"\xff" * 40)
    bad = [
        ({name: GOOD[1:]}, f"^{name} has 31 characters; it must have at least 32"),
        ({name: GOOD, f"{name}_PREVIOUS": "short"}, f"^{name}_PREVIOUS has 5 characters"),
        ({f"{name}_FILE": str(short)}, f"^{name}_FILE has 31 characters"),
        ({name: GOOD, f"{name}_FILE": str(file)}, f"^{name} and {name}_FILE are both set"),
        ({f"{name}_FILE": str(tmp_path / "missing")}, f"^{name}_FILE cannot be read"),
        ({f"{name}_FILE": str(tmp_path)}, f"^{name}_FILE cannot be read"),
        ({f"{name}_FILE": str(binary)}, f"^{name}_FILE cannot be read"),
        ({f"{name}_PREVIOUS": GOOD}, f"^{name}_PREVIOUS is set and {name} is not"),
        ({name: GOOD, f"{name}_PREVIOUS": GOOD}, f"^{name}_PREVIOUS equals {name}"),
    ]
    for values, sentence in bad:
        with pytest.raises(SetupError, match=sentence) as refusal:
            _read(tmp_path, **values)
        assert GOOD[1:] not in str(refusal.value)


@pytest.mark.parametrize("name", KEYS)
def test_an_empty_key_file_is_named(tmp_path: Path, name: str) -> None:
    """Taken for no key, it would have a new one made, or the wrong sentence said."""
    empty = tmp_path / "key"
    empty.write_text("\n")
    with pytest.raises(SetupError, match=f"^{name}_FILE has 0 characters"):
        _read(tmp_path, **{f"{name}_FILE": str(empty)})


@pytest.mark.parametrize("name", KEYS)
def test_an_external_database_needs_both_keys(tmp_path: Path, name: str) -> None:
    settings = _read(tmp_path, **URLS, **{other: GOOD for other in KEYS if other != name})
    with pytest.raises(SetupError, match=f"^{name} is not set. With an external database every process needs the same"):
        ensure_keys(settings)
    assert not (tmp_path / "keys").exists()


def test_one_key_may_not_serve_both_purposes_by_accident(tmp_path: Path) -> None:
    """Even equal secrets give keys that differ: each is derived for its purpose."""
    settings = _read(tmp_path, **dict.fromkeys(KEYS, GOOD))
    assert settings.secret_key == settings.identity_key
    assert derive_key(GOOD.encode(), "identity") != derive_key(GOOD.encode(), "line digests")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("http://Localhost:8413", "http://localhost:8413"),
        ("http://localhost:80", "http://localhost"),
        ("https://Memory.Example.com:443/", "https://memory.example.com"),
        ("https://memory.example.com:8443", "https://memory.example.com:8443"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_the_public_address_is_read_as_browsers_send_it(written: str, read: str) -> None:
    """It is compared with the Host header, and stands in the redirect address at the identity provider."""
    assert read_settings({"KEEPLINE_PUBLIC_URL": written}).public_url == read
