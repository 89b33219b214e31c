"""Web sessions: a row on the server, named by a cookie that holds nothing but a random secret.

A session ends after 8 idle hours, after 7 days at most, or when it is signed out; a sign-in always starts a new one.
flask-login's user is read from the row on each request; nothing of it is kept in the browser.
"""

import hashlib
import hmac
import json
import secrets
from dataclasses import asdict, dataclass
from uuid import UUID

from flask_login import UserMixin
from sqlalchemy import Connection, delete, insert

from tenancy.binding import Binder
from tenancy.clients import USER_SCOPES, Kind, effective_scopes
from tenancy.identity import Identity, Role
from tenancy.keys import SecretBox, derive_key
from tenancy.oidc import SignIn
from tenancy.settings import KeyPair
from tenancy.tables import web_sessions


class WebUser(UserMixin):  # type: ignore[misc] # flask-login has no types
    """The signed-in person of a web session, as flask-login knows them."""

    def __init__(
        self,
        session_id: UUID,
        identity: Identity,
        org_slug: str,
        org_name: str,
        name: str | None,
        email: str | None,
        csrf_token: str,
    ) -> None:
        self.session_id = session_id
        self.identity = identity
        self.org_slug = org_slug
        self.org_name = org_name
        self.name = name
        self.email = email
        self.csrf_token = csrf_token
        self.scopes = effective_scopes(Kind.USER, USER_SCOPES, identity)

    def get_id(self) -> str:
        """Return the user's id, which flask-login asks for."""
        return str(self.identity.user_id)


@dataclass(frozen=True)
class WebSessions:
    """Starts, finds and ends web sessions, and keeps sign-ins that are under way."""

    binder: Binder
    box: SecretBox
    secret_key: KeyPair

    def find(self, secret: str) -> WebUser | None:
        """Return the person whose session the cookie names, or None when it is over."""
        rows = self.binder.look_up("find_session", digest=_digest(secret).hex())
        if not rows:
            return None
        session_id, org_id, slug, org_name, user_id, name, email, roles, teams, led = rows[0]
        identity = Identity(org_id, user_id, Role(roles), tuple(teams), tuple(led))
        return WebUser(session_id, identity, slug, org_name, name, email, self.csrf_token(secret))

    def start(self, connection: Connection) -> str:
        """Start a session for the bound user, with the roles and teams of the bound identity; return its secret."""
        secret = secrets.token_urlsafe(32)
        connection.execute(insert(web_sessions).values(digest=_digest(secret)))
        return secret

    def end(self, connection: Connection, user: WebUser) -> None:
        """End the session at once."""
        connection.execute(
            delete(web_sessions).where(
                web_sessions.c.org_id == user.identity.org_id,
                web_sessions.c.user_id == user.identity.user_id,
                web_sessions.c.id == user.session_id,
            )
        )

    def csrf_token(self, secret: str) -> str:
        """Return the token that our forms carry: it follows from the session's secret and can't be guessed."""
        key = derive_key(self.secret_key.current, "csrf")
        return hmac.digest(key, secret.encode(), "sha256").hex()

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
        return SignIn(**json.loads(opened)) if opened else None


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
