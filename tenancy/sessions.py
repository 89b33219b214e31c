"""Web sessions: a row on the server, named by a cookie that holds nothing but a random secret.

A session ends after 8 idle hours, after 7 days at most, or when it is signed out; a sign-in always starts a new one.
flask-login's user is read from the row on each request; nothing of it is kept in the browser.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from flask_login import UserMixin
from sqlalchemy import Connection, delete, func, select

from tenancy.binding import Binder
from tenancy.clients import USER_SCOPES, Kind, effective_scopes
from tenancy.identity import Identity, Role
from tenancy.keys import SecretBox, derive_key
from tenancy.oidc import SignedIn, SignIn
from tenancy.providers import Provider
from tenancy.roles import Rights
from tenancy.setting_values import KeyPair
from tenancy.tables import web_sessions

_SESSION_CHARACTERS = 255


@dataclass(frozen=True)
class Session:
    """A session as the database keeps it; `rights_age` is how many seconds ago the provider confirmed the rights."""

    id: UUID
    identity: Identity
    org_slug: str
    org_name: str
    name: str | None
    email: str | None
    provider_id: UUID
    subject: str
    rights_age: float
    renewable: bool
    sealed_claims: bytes | None


@dataclass(frozen=True)
class Renewal:
    """The right to renew a session: its refresh token, None where it can't be read, and since when it is held."""

    refresh_token: str | None
    began_at: str


@dataclass(frozen=True)
class SessionSummary:
    """One of a person's own sessions, as a page lists it."""

    id: UUID
    created_at: datetime
    last_seen_at: datetime


class WebUser(UserMixin):  # type: ignore[misc] # flask-login has no types
    """The signed-in person of a web session, as flask-login knows them."""

    def __init__(self, session: Session, csrf_tokens: Sequence[str], claims: Mapping[str, Any] | None) -> None:
        self.session_id = session.id
        self.identity = session.identity
        self.provider_id = session.provider_id
        self.org_slug = session.org_slug
        self.org_name = session.org_name
        self.name = session.name
        self.email = session.email
        self.csrf_tokens = csrf_tokens
        self.claims = claims
        self.scopes = effective_scopes(Kind.USER, USER_SCOPES, session.identity)

    def get_id(self) -> str:
        """Return the user's id, which flask-login asks for."""
        return str(self.identity.user_id)


@dataclass(frozen=True)
class WebSessions:
    """Starts, finds, renews and ends web sessions, and keeps sign-ins that are under way."""

    binder: Binder
    box: SecretBox
    secret_key: KeyPair

    def find(self, secret: str) -> Session | None:
        """Return the session that the cookie names, or None when it is over."""
        rows = self.binder.look_up("find_session", digest=_digest(secret).hex())
        if not rows:
            return None
        session_id, org_id, slug, org_name, user_id, name, email, roles, teams, led, *rest = rows[0]
        identity = Identity(org_id, user_id, Role(roles), tuple(teams), tuple(led))
        return Session(session_id, identity, slug, org_name, name, email, *rest)

    def user_of(self, session: Session, secret: str) -> WebUser:
        """Return the session's person for flask-login."""
        opened = self.box.open(session.sealed_claims) if session.sealed_claims else None
        return WebUser(session, self.csrf_tokens(secret), json.loads(opened) if opened else None)

    def start(
        self, connection: Connection, identity: Identity, provider: Provider, signed_in: SignedIn, rights: Rights
    ) -> tuple[UUID, str]:
        """Start a session for the bound user, in the bound transaction; return its id and its secret."""
        secret = secrets.token_urlsafe(32)
        provider_session = signed_in.claims.get("sid")
        named = isinstance(provider_session, str) and 0 < len(provider_session) <= _SESSION_CHARACTERS
        rows = self.binder.look_up_within(
            connection,
            "start_session",
            org_id=str(identity.org_id),
            user_id=str(identity.user_id),
            digest=_digest(secret).hex(),
            provider_id=str(provider.id),
            provider_session=provider_session if named and "\0" not in str(provider_session) else None,
            **self._kept(signed_in, rights),
        )
        return rows[0][0], secret

    def begin_renewal(self, secret: str, older_than: float) -> Renewal | None:
        """Return the refresh token when this caller is the one to use it: each works once.

        None where there is none, another caller has it, or the rights were confirmed in the last `older_than` s.
        """
        rows = self.binder.look_up("begin_renewal", digest=_digest(secret).hex(), older_than=older_than)
        if not rows:
            return None
        opened = self.box.open(rows[0][0])
        return Renewal(opened.decode() if opened else None, rows[0][1])

    def renew(self, secret: str, renewal: Renewal, signed_in: SignedIn, rights: Rights) -> None:
        """Keep what the provider confirmed, unless the session ended meanwhile or is another caller's to renew."""
        self.binder.look_up(
            "renew_session",
            digest=_digest(secret).hex(),
            began_at=renewal.began_at,
            **self._kept(signed_in, rights),
        )

    def forget_refresh_token(self, secret: str) -> None:
        """Let a session go on as one that has no refresh token."""
        self.binder.look_up("forget_refresh_token", digest=_digest(secret).hex())

    def end_unconfirmed(self, secret: str) -> None:
        """End a session that its provider does not confirm any more."""
        self.binder.look_up("end_session", digest=_digest(secret).hex())

    def list_own(self, connection: Connection, identity: Identity) -> list[SessionSummary]:
        """Return the person's sessions, the one used last first."""
        own = web_sessions.c
        rows = connection.execute(
            select(own.id, own.created_at, own.last_seen_at)
            .where(
                own.org_id == identity.org_id,
                own.user_id == identity.user_id,
                # Those that find_session still finds.
                own.last_seen_at > func.clock_timestamp() - timedelta(hours=8),
                own.created_at > func.clock_timestamp() - timedelta(days=7),
            )
            .order_by(own.last_seen_at.desc(), own.id)
        )
        return [SessionSummary(*row) for row in rows]

    def end(self, connection: Connection, identity: Identity, session_id: UUID) -> bool:
        """End one of the person's sessions at once; return whether there was one."""
        ended = connection.execute(
            delete(web_sessions).where(
                web_sessions.c.org_id == identity.org_id,
                web_sessions.c.user_id == identity.user_id,
                web_sessions.c.id == session_id,
            )
        )
        return ended.rowcount == 1

    def end_everywhere(self, connection: Connection) -> int:
        """End every session of the bound person and refuse their older tokens; return how many sessions ended."""
        return int(connection.execute(select(func.tenancy.sign_out_everywhere())).scalar_one())

    def csrf_tokens(self, secret: str) -> tuple[str, ...]:
        """Return the token that our forms carry, and before it was rotated; they follow from the session's secret."""
        return tuple(
            hmac.digest(derive_key(key, "csrf"), secret.encode(), "sha256").hex() for key in self.secret_key.accepted
        )

    def keep_sign_in(self, sign_in: SignIn, browser: str) -> None:
        """Keep a sign-in for ten minutes, sealed, for one use by the browser that began it."""
        self.binder.look_up(
            "keep_sign_in",
            state_digest=_digest(sign_in.state).hex(),
            browser_digest=_digest(browser).hex(),
            sealed=self.box.seal(json.dumps(asdict(sign_in)).encode()).hex(),
        )

    def take_sign_in(self, state: str, browser: str) -> SignIn | None:
        """Return the sign-in that the state names and end it, or None when there is none for this browser."""
        rows = self.binder.look_up(
            "take_sign_in", state_digest=_digest(state).hex(), browser_digest=_digest(browser).hex()
        )
        opened = self.box.open(rows[0][0]) if rows and rows[0][0] else None
        kept = json.loads(opened) if opened else {}
        # One that was begun by an earlier release may hold something else, and is begun again.
        return SignIn(**kept) if set(kept) == {field.name for field in fields(SignIn)} else None

    def _kept(self, signed_in: SignedIn, rights: Rights) -> dict[str, Any]:
        """Return what a session keeps: rights, the refresh token, and of admins the claims, for previews of rules."""
        token, claims = signed_in.refresh_token, json.dumps(signed_in.claims)
        return {
            "roles": int(rights.roles),
            "team_ids": [str(team) for team in rights.team_ids],
            "led_team_ids": [str(team) for team in rights.led_team_ids],
            "refresh_token": self.box.seal(token.encode()).hex() if token else None,
            "claims": self.box.seal(claims.encode()).hex() if Role.ADMIN in rights.roles else None,
        }


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
