"""The signed identity that binds a transaction to one user of one org, and tickets for what comes before it.

The formats are fixed together with `sql/functions/10_identity.sql`, which verifies them on every use.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Any
from uuid import UUID

from tenancy.clock import Clock
from tenancy.keys import SigningKey

LIFETIME_SECONDS = 55
"""The database takes no token for longer than 60 s, so a signer's clock may be 5 s ahead of its."""
NO_BACKEND = 0


class Role(IntFlag):
    """What the identity provider says a person is, beyond being a member; memory never grants any of it."""

    NONE = 0
    REVIEWER = 1
    ADMIN = 2


@dataclass(frozen=True)
class TokenOrigin:
    """The access token that an identity comes from: when it was issued (seconds since 1970), and to which client."""

    issued_at: int
    client_id: str


@dataclass(frozen=True)
class Identity:
    """One user of one org, with the roles and teams that the identity provider gave.

    `origin` is set where it comes from an access token: then each transaction also checks that the person did not
    sign out since, and that the client was not revoked.
    """

    org_id: UUID
    user_id: UUID
    roles: Role = Role.NONE
    team_ids: tuple[UUID, ...] = ()
    led_team_ids: tuple[UUID, ...] = ()
    origin: TokenOrigin | None = None


class Signer:
    """Signs identities and tickets with the current identity key; both live 55 s of real time."""

    def __init__(self, keys: Sequence[SigningKey], clock: Clock) -> None:
        self._key = keys[0]
        self._clock = clock

    def identity_token(self, identity: Identity, backend_pid: int = NO_BACKEND) -> str:
        """Return the token to bind; with a backend's pid it is refused on every other connection."""
        teams = ",".join(map(str, identity.team_ids))
        led_teams = ",".join(map(str, identity.led_team_ids))
        return self._key.sign(
            f"kl1{self._key.key_id}{self._expiry()}{backend_pid:08x}{identity.org_id}{identity.user_id}"
            f"{int(identity.roles):08x}{{{teams}}};{{{led_teams}}}"
        )

    def ticket(self, purpose: str, fields: Mapping[str, Any]) -> str:
        """Return a ticket for one look-up that happens before an identity is known.

        The database runs such a look-up only for who holds the key, so that a foreign statement on the same
        connection can't list orgs, users or sessions.
        """
        body = json.dumps({"purpose": purpose, **fields}, ensure_ascii=True)
        return self._key.sign(f"kt1{self._key.key_id}{self._expiry()}{body}")

    def _expiry(self) -> str:
        return f"{int(self._clock.credential_now().timestamp()) + LIFETIME_SECONDS:010d}"
