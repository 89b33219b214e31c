"""What the provider hands out and takes back: authorization codes and refresh tokens, in memory.

A restart forgets them; people then sign in again. Access and ID tokens are signed and need no store.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from demo.people import Person

CODE_SECONDS = 60
REFRESH_SECONDS = 12 * 3600


@dataclass(frozen=True, slots=True)
class SignIn:
    """A person who has signed in, and when (seconds since 1970)."""

    person: Person
    auth_time: int

    def get_user_id(self) -> str:
        return self.person.subject


@dataclass(frozen=True, slots=True)
class AuthorizationCode:
    """What a code stands for; `family` joins it to the refresh tokens that come from it."""

    family: str
    client_id: str
    redirect_uri: str
    scope: str
    nonce: str | None
    code_challenge: str
    code_challenge_method: str
    sign_in: SignIn

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str | None:
        return self.nonce

    def get_auth_time(self) -> int:
        return self.sign_in.auth_time

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """What a refresh token stands for; `scope` is what was first granted, however little was asked since."""

    family: str
    client_id: str
    scope: str
    sign_in: SignIn

    def check_client(self, client: object) -> bool:
        return getattr(client, "client_id", None) == self.client_id

    def get_scope(self) -> str:
        return self.scope


Item = TypeVar("Item", AuthorizationCode, RefreshToken)


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Item]):
    item: Item
    expires_at: float
    spent: bool = False


class SingleUse(Generic[Item]):
    """Secrets that work once, for a limited time.

    A spent secret is remembered until it would have expired, so that a second use can be told from a
    secret that never existed. `clock` gives seconds and only ever moves forward.
    """

    def __init__(self, lifetime_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._lifetime_seconds = lifetime_seconds
        self._clock = clock
        self._entries: dict[str, _Entry[Item]] = {}
        self._lock = threading.Lock()

    def save(self, secret: str, item: Item) -> None:
        """Keep what the secret stands for."""
        now = self._clock()
        with self._lock:
            self._entries = {key: entry for key, entry in self._entries.items() if entry.expires_at > now}
            self._entries[secret] = _Entry(item, now + self._lifetime_seconds)

    def find(self, secret: str) -> Item | None:
        """Return what the secret stands for, spent or not; None when unknown or expired."""
        with self._lock:
            entry = self._entries.get(secret)
        return entry.item if entry and entry.expires_at > self._clock() else None

    def spend(self, secret: str) -> bool:
        """Use the secret up. True for exactly one caller, however many ask at once."""
        with self._lock:
            entry = self._entries.get(secret)
            if entry is None or entry.spent or entry.expires_at <= self._clock():
                return False
            self._entries[secret] = replace(entry, spent=True)
            return True

    def revoke(self, family: str) -> None:
        """Forget every secret of a family."""
        with self._lock:
            self._entries = {key: entry for key, entry in self._entries.items() if entry.item.family != family}
