"""The settings: the only file that reads the environment, once and strictly."""

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from tenancy.errors import SetupError

PROJECT_FOLDER = Path(__file__).resolve().parent.parent
MINIMUM_KEY_CHARACTERS = 32
DEMO_MARKER = "demo.json"
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

_NAMES = frozenset(
    f"KEEPLINE_{name}"
    for name in [
        "PORT",
        "PUBLIC_URL",
        "DATA_DIR",
        "DATABASE_URL",
        "WORKER_DATABASE_URL",
        "OWNER_DATABASE_URL",
        "DEMO",
        "SECRET_KEY",
        "SECRET_KEY_FILE",
        "SECRET_KEY_PREVIOUS",
        "SECRET_KEY_PREVIOUS_FILE",
        "IDENTITY_KEY",
        "IDENTITY_KEY_FILE",
        "IDENTITY_KEY_PREVIOUS",
        "IDENTITY_KEY_PREVIOUS_FILE",
        "LLM_BASE_URL",
        "LLM_MODEL",
        "LLM_API_KEY",
        "EMBEDDER",
        "TRUSTED_PROXIES",
        "RATE_LIMIT_STORAGE",
        "RATE_LIMIT_USER",
        "RATE_LIMIT_ORG",
        "RATE_LIMIT_ADDRESS",
        "WAL_DAYS",
        "BACKUP_DAYS",
        "STRICT_FLOOR",
        "EVAL_DATA",
        "WEB_WORKERS",
        "WEB_THREADS",
    ]
)


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


@dataclass(frozen=True)
class Settings:
    """Everything the environment says, checked."""

    port: int
    public_url: str
    data_folder: Path
    database: DatabaseUrls | None
    demo: bool
    secret_key: KeyPair | None
    identity_key: KeyPair | None
    trusted_proxies: int
    rate_limit_user: int
    rate_limit_org: int
    rate_limit_address: int
    rate_limit_storage: str
    strict_floor: bool
    web_workers: int
    web_threads: int
    client_secrets: Mapping[str, str]
    unknown_names: tuple[str, ...]
    demo_orgs: tuple[Mapping[str, str], ...]

    @property
    def embedded(self) -> bool:
        """Whether Keepline runs its own PostgreSQL in the data folder."""
        return self.database is None

    @property
    def served_on_tls(self) -> bool:
        """Whether browsers reach Keepline by https, so that cookies can demand it."""
        return self.public_url.startswith("https://")


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read and check the environment.

    Raises:
        SetupError: a value is missing or wrong; the sentence names the variable.

    """
    values = dict(os.environ if environ is None else environ)
    port = _number(values, "KEEPLINE_PORT", default=8000, least=1, most=65535)
    data_folder = Path(values.get("KEEPLINE_DATA_DIR") or PROJECT_FOLDER / "var").expanduser().absolute()
    demo = _demo(values, data_folder)
    return Settings(
        port=port,
        public_url=_public_url(values, port),
        data_folder=data_folder,
        database=_database_urls(values),
        demo=demo,
        demo_orgs=_demo_orgs(data_folder) if demo else (),
        secret_key=_key_pair(values, "KEEPLINE_SECRET_KEY"),
        identity_key=_key_pair(values, "KEEPLINE_IDENTITY_KEY"),
        trusted_proxies=_number(values, "KEEPLINE_TRUSTED_PROXIES", default=0, least=0, most=10),
        rate_limit_user=_calls_a_minute(values, "KEEPLINE_RATE_LIMIT_USER", default=600),
        rate_limit_org=_calls_a_minute(values, "KEEPLINE_RATE_LIMIT_ORG", default=12_000),
        rate_limit_address=_calls_a_minute(values, "KEEPLINE_RATE_LIMIT_ADDRESS", default=600),
        rate_limit_storage=_rate_limit_storage(values),
        strict_floor=_flag(values, "KEEPLINE_STRICT_FLOOR"),
        web_workers=_number(values, "KEEPLINE_WEB_WORKERS", default=2, least=1, most=64),
        web_threads=_number(values, "KEEPLINE_WEB_THREADS", default=4, least=1, most=64),
        client_secrets=_client_secrets(values),
        unknown_names=tuple(sorted(filter(_is_unknown, values))),
    )


def ensure_keys(settings: Settings) -> tuple[KeyPair, KeyPair]:
    """Return the secret key and the identity key; the embedded database's are made once, in the data folder.

    Raises:
        SetupError: an external database is used and a key is not set.

    """
    return (
        settings.secret_key or _kept_key(settings, "KEEPLINE_SECRET_KEY"),
        settings.identity_key or _kept_key(settings, "KEEPLINE_IDENTITY_KEY"),
    )


def environment_for(settings: Settings, **extra: str) -> dict[str, str]:
    """Return the environment of a child process: this one's, with the data folder and port spelled out."""
    return {
        **os.environ,
        "KEEPLINE_PORT": str(settings.port),
        "KEEPLINE_PUBLIC_URL": settings.public_url,
        "KEEPLINE_DATA_DIR": str(settings.data_folder),
        "KEEPLINE_DEMO": "1" if settings.demo else "0",
        **extra,
    }


def _kept_key(settings: Settings, name: str) -> KeyPair:
    if not settings.embedded:
        raise SetupError(
            f"{name} is not set. With an external database every process needs the same key: "
            f"set {name} or {name}_FILE to at least {MINIMUM_KEY_CHARACTERS} random characters."
        )
    folder = settings.data_folder / "keys"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / name.removeprefix("KEEPLINE_").lower()
    if not path.exists():
        draft = folder / f".{path.name}.{secrets.token_hex(8)}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process made it first; its key is the one that counts
            os.link(draft, path)
        draft.unlink()
    return KeyPair(_checked_key(name, path.read_text("ascii").strip()), None)


def _number(values: Mapping[str, str], name: str, *, default: int, least: int, most: int) -> int:
    text = values.get(name, "")
    if not text:
        return default
    digits = text.isascii() and text.isdigit() and len(text) <= _DIGITS_AT_MOST
    if not digits or not least <= int(text) <= most:
        raise SetupError(f"{name} is {text!r}; it must be a whole number from {least} to {most}.")
    return int(text)


def _calls_a_minute(values: Mapping[str, str], name: str, *, default: int) -> int:
    return _number(values, name, default=default, least=1, most=_CALLS_A_MINUTE_AT_MOST)


def _rate_limit_storage(values: Mapping[str, str]) -> str:
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


def _flag(values: Mapping[str, str], name: str) -> bool:
    text = values.get(name, "")
    if text not in ("", "0", "1"):
        raise SetupError(f"{name} is {text!r}; it must be 1 or 0.")
    return text == "1"


def _public_url(values: Mapping[str, str], port: int) -> str:
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


def _database_urls(values: Mapping[str, str]) -> DatabaseUrls | None:
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


def _demo(values: Mapping[str, str], data_folder: Path) -> bool:
    marked = (data_folder / DEMO_MARKER).exists()
    if not values.get("KEEPLINE_DEMO"):
        return marked
    asked = _flag(values, "KEEPLINE_DEMO")
    if marked and not asked:
        raise SetupError(
            f"KEEPLINE_DEMO is 0, but the data folder {data_folder} was made by the demo, whose people anybody "
            "on this machine can become. Use another KEEPLINE_DATA_DIR."
        )
    return asked


def _demo_orgs(data_folder: Path) -> tuple[Mapping[str, str], ...]:
    """Return what the demo offers for signing in with one click; none before it made its folder."""
    try:
        return tuple(json.loads((data_folder / DEMO_MARKER).read_text("utf-8"))["orgs"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _key_pair(values: Mapping[str, str], name: str) -> KeyPair | None:
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
        return _checked_key(f"{name}_FILE", _read_file(f"{name}_FILE", path))
    return _checked_key(name, text) if text else None


def _client_secrets(values: Mapping[str, str]) -> dict[str, str]:
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


def _is_unknown(name: str) -> bool:
    return name.startswith("KEEPLINE_") and name not in _NAMES and not name.startswith(CLIENT_SECRET_PREFIX)


def _read_file(name: str, path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"{name} cannot be read: {error}.") from error


def _checked_key(name: str, text: str) -> bytes:
    if len(text) < MINIMUM_KEY_CHARACTERS:
        raise SetupError(
            f"{name} has {len(text)} characters; it must have at least {MINIMUM_KEY_CHARACTERS}, at random."
        )
    return text.encode()
