"""How values of the environment are read: strictly, with a sentence that names the variable of a bad one.

Each function takes the environment as a mapping; only `tenancy/settings.py` has the real one. All raise SetupError.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from tenancy.errors import SetupError

MINIMUM_KEY_CHARACTERS = 32
CLIENT_SECRET_PREFIX = "KEEPLINE_CLIENT_SECRET_"  # noqa: S105 - a name, not a secret
_DEFAULT_PORTS = {"http": 80, "https": 443}
_DIGITS_AT_MOST = 9
_CALLS_A_MINUTE_AT_MOST = 10_000_000

SHARED_MEMORY = "shared-memory://"
"""The storage of the rate limits where none is named: memory that the worker processes of this machine share."""

# Each kind of storage that processes can share and that opens no connection at the start, with the package for it.
_RATE_LIMIT_STORAGES = {
    "redis": "redis", "rediss": "redis", "redis+unix": "redis", "redis+sentinel": "redis", "valkey": "valkey",
    "valkeys": "valkey", "valkey+unix": "valkey", "valkey+sentinel": "valkey", "memcached": "pymemcache",
}  # fmt: skip


@dataclass(frozen=True)
class KeyPair:
    """A secret and the one that it replaced, which is still accepted while a rotation lasts."""

    current: bytes
    previous: bytes | None

    @property
    def accepted(self) -> tuple[bytes, ...]:
        """Every key that may still be met, the current one first."""
        return (self.current,) if self.previous is None else (self.current, self.previous)


@dataclass(frozen=True)
class DatabaseUrls:
    """The three logins of an external PostgreSQL, as libpq understands them."""

    web: str
    worker: str
    owner: str


def read_number(values: Mapping[str, str], name: str, *, default: int, least: int, most: int) -> int:
    """Return a whole number in plain digits, or the default where the variable is empty."""
    text = values.get(name, "")
    if not text:
        return default
    digits = text.isascii() and text.isdigit() and len(text) <= _DIGITS_AT_MOST
    if not digits or not least <= int(text) <= most:
        raise SetupError(f"{name} is {text!r}; it must be a whole number from {least} to {most}.")
    return int(text)


def read_calls_a_minute(values: Mapping[str, str], name: str, *, default: int) -> int:
    """Return a rate limit, in calls a minute."""
    return read_number(values, name, default=default, least=1, most=_CALLS_A_MINUTE_AT_MOST)


def read_rate_limit_storage(values: Mapping[str, str]) -> str:
    """Return the storage's address; the sentences do not repeat it, for it may hold a password."""
    name = "KEEPLINE_RATE_LIMIT_STORAGE"
    text = values.get(name) or SHARED_MEMORY
    if text == SHARED_MEMORY:
        return text
    scheme, separator, rest = text.partition("://")
    if not separator or not rest or not text.isprintable() or " " in text or scheme not in _RATE_LIMIT_STORAGES:
        raise SetupError(
            f"{name} is not the address of a storage; it must be like redis://host:6379 and begin with one of "
            f"{', '.join(_RATE_LIMIT_STORAGES)}. Without it, the processes of one machine share their memory."
        )
    package = _RATE_LIMIT_STORAGES[scheme]
    if find_spec(package) is None:
        raise SetupError(f"{name} begins with {scheme}, for which the Python package {package} must be installed.")
    return text


def read_flag(values: Mapping[str, str], name: str) -> bool:
    """Return whether a variable is 1; empty is 0."""
    text = values.get(name, "")
    if text not in ("", "0", "1"):
        raise SetupError(f"{name} is {text!r}; it must be 1 or 0.")
    return text == "1"


def read_public_url(values: Mapping[str, str], port: int) -> str:
    """Return where browsers reach Keepline: scheme, host and port, without a path."""
    text = values.get("KEEPLINE_PUBLIC_URL") or f"http://127.0.0.1:{port}"
    try:
        parts = urlsplit(text)
        readable = bool(parts.hostname) and parts.port != 0 and text.isprintable() and " " not in text
    except ValueError:  # a host or port that is none
        readable = False
    if not readable or parts.scheme not in ("http", "https") or "@" in parts.netloc or parts.query or parts.fragment:
        raise SetupError(f"KEEPLINE_PUBLIC_URL is {text!r}; it must be like https://memory.example.com.")
    if parts.path not in ("", "/"):
        raise SetupError(f"KEEPLINE_PUBLIC_URL is {text!r}; it must not have a path.")
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    default_port = parts.port in (None, _DEFAULT_PORTS[parts.scheme])
    return f"{parts.scheme}://{host}" if default_port else f"{parts.scheme}://{host}:{parts.port}"


def read_database_urls(values: Mapping[str, str]) -> DatabaseUrls | None:
    """Return the three URLs of an external PostgreSQL, or None for the embedded one."""
    names = ("KEEPLINE_DATABASE_URL", "KEEPLINE_WORKER_DATABASE_URL", "KEEPLINE_OWNER_DATABASE_URL")
    missing = [name for name in names if not values.get(name)]
    if len(missing) == len(names):
        return None
    if missing:
        raise SetupError(
            f"{' and '.join(missing)} not set. Set all three database URLs for an external PostgreSQL, "
            "or none for the embedded one."
        )
    return DatabaseUrls(*(values[name] for name in names))


def read_key_pair(values: Mapping[str, str], name: str) -> KeyPair | None:
    """Return a key and the one before it, from the environment or from files, or None where none is set."""
    current, previous = _key(values, name), _key(values, f"{name}_PREVIOUS")
    if current is None:
        if previous is not None:
            raise SetupError(f"{name}_PREVIOUS is set and {name} is not.")
        return None
    if current == previous:
        raise SetupError(f"{name}_PREVIOUS equals {name}; a rotation needs two different keys.")
    return KeyPair(current, previous)


def _key(values: Mapping[str, str], name: str) -> bytes | None:
    text, path = values.get(name), values.get(f"{name}_FILE")
    if text and path:
        raise SetupError(f"{name} and {name}_FILE are both set; set one of them.")
    if path:
        return checked_key(f"{name}_FILE", _read_file(f"{name}_FILE", path))
    return checked_key(name, text) if text else None


def read_client_secrets(values: Mapping[str, str]) -> dict[str, str]:
    """Return the client secrets of identity providers that the environment holds, by their short names."""
    found: dict[str, str] = {}
    for name in sorted(values):
        if not name.startswith(CLIENT_SECRET_PREFIX) or not values[name]:
            continue
        short = name.removeprefix(CLIENT_SECRET_PREFIX).removesuffix("_FILE")
        if short in found:
            raise SetupError(f"{CLIENT_SECRET_PREFIX}{short} and {CLIENT_SECRET_PREFIX}{short}_FILE are both set.")
        found[short] = _read_file(name, values[name]) if name.endswith("_FILE") else values[name]
    return found


def _read_file(name: str, path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"{name} cannot be read: {error}.") from error


def checked_key(name: str, text: str) -> bytes:
    """Return a key that is long enough, as bytes."""
    if len(text) < MINIMUM_KEY_CHARACTERS:
        raise SetupError(
            f"{name} has {len(text)} characters; it must have at least {MINIMUM_KEY_CHARACTERS}, at random."
        )
    return text.encode()
