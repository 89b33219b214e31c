"""Renewal: a web session asks for roles and teams again, so that whoever lost one keeps it for 15 minutes at most.

A session whose provider gave a refresh token is renewed by it, in the request that finds it due. One without goes
back to the provider when its 15 minutes are over; where the person is still signed in there, nothing is asked.
"""

import time

from tenancy.errors import ForbiddenError, NotSignedInError, UnavailableError
from tenancy.oidc import NoIdTokenError, OpenIDProviders, SignInRefusedError
from tenancy.providers import Directory
from tenancy.roles import rights_from_claims
from tenancy.sessions import Renewal, Session, WebSessions

RENEWED_AFTER_SECONDS = 600
RIGHTS_SECONDS = 900
_WAIT_STEPS = 4
_WAIT_SECONDS = 0.2


class SessionLapsedError(NotSignedInError):
    """The provider has to confirm the person again; the browser is sent there."""

    def __init__(self, org_slug: str) -> None:
        super().__init__("Your sign-in has to be confirmed again. Sign in, then go on where you were.")
        self.sign_in_path = f"/login/start?org={org_slug}"


class RightsUnconfirmedError(UnavailableError):
    """The provider does not answer, and what it last said is too old to rely on."""

    code = "rights_unconfirmed"
    title = "Your sign-in can't be confirmed now"

    def __init__(self) -> None:
        super().__init__(
            "Your identity provider does not answer, and it last confirmed your roles and teams over 15 minutes ago. "
            "Nothing was done and nothing is lost; try again shortly."
        )


class SessionRenewal:
    """Confirms roles and teams of sessions that are due, one caller a session at a time."""

    def __init__(self, sessions: WebSessions, providers: OpenIDProviders, directory: Directory) -> None:
        self._sessions = sessions
        self._providers = providers
        self._directory = directory

    def current(self, secret: str) -> Session | None:
        """Return the session that the cookie names, with rights at most 15 minutes old; None when it is over.

        Raises:
            SessionLapsedError: the provider has to confirm the person, and there is no refresh token for it.
            RightsUnconfirmedError: the provider does not answer.
            ForbiddenError: what the provider says now gives this person no access.

        """
        session = self._sessions.find(secret)
        if session is None or session.rights_age < RENEWED_AFTER_SECONDS:
            return session
        renewal = self._sessions.begin_renewal(secret, RENEWED_AFTER_SECONDS)
        if renewal is not None and renewal.refresh_token is not None:
            return self._renewed(session, secret, renewal, renewal.refresh_token)
        if renewal is not None:  # it was sealed with a secret key that is not in force any more
            return self._go_on_without_refresh_token(session, secret)
        if session.rights_age < RIGHTS_SECONDS:
            return session
        if not session.renewable:
            raise SessionLapsedError(session.org_slug)
        return self._renewed_by_another(secret)

    def _renewed(self, session: Session, secret: str, renewal: Renewal, refresh_token: str) -> Session | None:
        provider = self._directory.find_provider(session.identity.org_id, session.provider_id)
        if provider is None:
            return None
        try:
            signed_in = self._providers.refresh(provider, refresh_token, session.subject)
            rights = rights_from_claims(provider.org_id, signed_in.claims, provider.rules)
        except NoIdTokenError:
            return self._go_on_without_refresh_token(session, secret)
        except UnavailableError as error:
            if session.rights_age < RIGHTS_SECONDS:
                return session
            raise RightsUnconfirmedError from error
        except SignInRefusedError as error:
            self._sessions.end_unconfirmed(secret)
            raise SessionLapsedError(session.org_slug) from error
        except ForbiddenError:
            self._sessions.end_unconfirmed(secret)
            raise
        self._sessions.renew(secret, renewal, signed_in, rights)
        return self._sessions.find(secret)  # ended meanwhile, or as it is now

    def _go_on_without_refresh_token(self, session: Session, secret: str) -> Session:
        self._sessions.forget_refresh_token(secret)
        if session.rights_age < RIGHTS_SECONDS:
            return session
        raise SessionLapsedError(session.org_slug)

    def _renewed_by_another(self, secret: str) -> Session | None:
        """Wait up to 0.8 s for the request that has the refresh token."""
        for _ in range(_WAIT_STEPS):
            time.sleep(_WAIT_SECONDS)
            session = self._sessions.find(secret)
            if session is None or session.rights_age < RIGHTS_SECONDS:
                return session
        raise RightsUnconfirmedError
