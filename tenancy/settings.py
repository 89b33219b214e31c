"""The settings: the only file that reads the environment, once and strictly."""

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tenancy.errors import SetupError
from tenancy.setting_values import (
    CLIENT_SECRET_PREFIX,
    MINIMUM_KEY_CHARACTERS,
    DatabaseUrls,
    KeyPair,
    checked_key,
    read_calls_a_minute,
    read_client_secrets,
    read_database_urls,
    read_flag,
    read_key_pair,
    read_number,
    read_public_url,
    read_rate_limit_storage,
)

PROJECT_FOLDER = Path(__file__).resolve().parent.parent
DEMO_MARKER = "demo.json"

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
    port = read_number(values, "KEEPLINE_PORT", default=8000, least=1, most=65535)
    data_folder = Path(values.get("KEEPLINE_DATA_DIR") or PROJECT_FOLDER / "var").expanduser().absolute()
    demo = _demo(values, data_folder)
    return Settings(
        port=port,
        public_url=read_public_url(values, port),
        data_folder=data_folder,
        database=read_database_urls(values),
        demo=demo,
        demo_orgs=_demo_orgs(data_folder) if demo else (),
        secret_key=read_key_pair(values, "KEEPLINE_SECRET_KEY"),
        identity_key=read_key_pair(values, "KEEPLINE_IDENTITY_KEY"),
        trusted_proxies=read_number(values, "KEEPLINE_TRUSTED_PROXIES", default=0, least=0, most=10),
        rate_limit_user=read_calls_a_minute(values, "KEEPLINE_RATE_LIMIT_USER", default=600),
        rate_limit_org=read_calls_a_minute(values, "KEEPLINE_RATE_LIMIT_ORG", default=12_000),
        rate_limit_address=read_calls_a_minute(values, "KEEPLINE_RATE_LIMIT_ADDRESS", default=600),
        rate_limit_storage=read_rate_limit_storage(values),
        strict_floor=read_flag(values, "KEEPLINE_STRICT_FLOOR"),
        web_workers=read_number(values, "KEEPLINE_WEB_WORKERS", default=2, least=1, most=64),
        web_threads=read_number(values, "KEEPLINE_WEB_THREADS", default=4, least=1, most=64),
        client_secrets=read_client_secrets(values),
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
    return KeyPair(checked_key(name, path.read_text("ascii").strip()), None)


def _demo(values: Mapping[str, str], data_folder: Path) -> bool:
    marked = (data_folder / DEMO_MARKER).exists()
    if not values.get("KEEPLINE_DEMO"):
        return marked
    asked = read_flag(values, "KEEPLINE_DEMO")
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


def _is_unknown(name: str) -> bool:
    return name.startswith("KEEPLINE_") and name not in _NAMES and not name.startswith(CLIENT_SECRET_PREFIX)
