"""Guards: what a route asks of its caller. A route that names none cannot be registered.

A guard is put on a view with `@guarded(...)`, outermost of its own decorators; `admit_caller` enforces it before the
view runs, so that 401 and 403 come before anything of the body is read.
"""

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar, cast
from uuid import UUID

from flask import Flask, Request, current_app, g, request
from flask_login import current_user
from werkzeug.exceptions import BadHost
from werkzeug.routing import MapAdapter

from tenancy.clients import WEB_CLIENT, Kind
from tenancy.errors import CrossSiteError, MissingScopeError, NotSignedInError, StaleFormError, TokenTooOldError
from tenancy.identity import Identity
from tenancy.services import current_services
from tenancy.sessions import WebUser

CSRF_FIELD = "csrf_token"
CSRF_HEADER = "X-Keepline-CSRF"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
View = TypeVar("View", bound=Callable[..., Any])


class Door(StrEnum):
    """By which door a caller comes: nobody is asked, a page of the browser, or a call of the API."""

    PUBLIC = "public"
    PAGE = "page"
    API = "api"


@dataclass(frozen=True)
class Guard:
    """What one route asks: the door, and the scope that the caller must hold (None: any signed-in caller).

    `lapsed` lets a session in whose roles are too old to rely on, for what needs none.
    """

    door: Door
    scope: str | None = None
    lapsed: bool = False


PUBLIC = Guard(Door.PUBLIC, lapsed=True)


def page(scope: str | None = None, *, lapsed: bool = False) -> Guard:
    """Ask for a web session, and for a scope where one is named; signing out is for a lapsed session too."""
    return Guard(Door.PAGE, scope, lapsed)


def call(scope: str) -> Guard:
    """Ask for a bearer token, or a web session with its CSRF token, that holds the scope."""
    return Guard(Door.API, scope)


@dataclass(frozen=True)
class Caller:
    """Who makes this request: the identity, the client it comes by, and what it may do.

    `claims` are what the provider says of the caller, where that is kept: of a bearer token, and of an admin's session.
    """

    identity: Identity
    client_id: str
    client_name: str
    kind: Kind
    scopes: frozenset[str]
    org_name: str
    person_name: str
    csrf_tokens: Sequence[str] = ()
    lapsed_scopes: frozenset[str] = frozenset()
    claims: Mapping[str, Any] | None = None
    provider_id: UUID | None = None

    @property
    def csrf_token(self) -> str | None:
        """The token that forms carry; None where the caller comes by a bearer token."""
        return self.csrf_tokens[0] if self.csrf_tokens else None


def guarded(guard: Guard) -> Callable[[View], View]:
    """Put a guard on a view."""

    def mark(view: View) -> View:
        view.guard = guard  # type: ignore[attr-defined] # the mark that GuardedFlask looks for
        return view

    return mark


class GuardedFlask(Flask):
    """A Flask application that registers no route without a guard."""

    def add_url_rule(
        self,
        rule: str,
        endpoint: str | None = None,
        view_func: Callable[..., Any] | None = None,
        provide_automatic_options: bool | None = None,
        **options: Any,
    ) -> None:
        """Register a route.

        Raises:
            TypeError: the view has no guard.

        """
        if endpoint == "static":
            guarded(PUBLIC)(view_func)  # type: ignore[type-var] # Flask passes its own view here
        elif not isinstance(getattr(view_func, "guard", None), Guard):
            raise TypeError(f"The route {rule} names no guard; put @guarded(...) on its view.")
        super().add_url_rule(rule, endpoint, view_func, provide_automatic_options, **options)

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Match by path alone: which host was asked for plays no part, so one that is none stands in nobody's way."""
        try:
            return super().create_url_adapter(request)
        except BadHost:
            if request is None:
                raise
            return self.url_map.bind_to_environ({**request.environ, "HTTP_HOST": "localhost"}, subdomain="")


def guard_of(app: Flask, endpoint: str) -> Guard:
    """Return the guard of a registered route."""
    return cast(Guard, vars(app.view_functions[endpoint])["guard"])


def current_caller() -> Caller:
    """Return who makes this request.

    Raises:
        NotSignedInError: nobody is signed in.

    """
    caller = known_caller()
    if caller is None:
        raise NotSignedInError("Sign in first.")
    return caller


def known_caller() -> Caller | None:
    """Return who makes this request, or None when nobody is signed in."""
    if "caller" not in g:
        g.caller = None  # should it fail, the page that says so does not ask once more
        g.caller = _caller_of_session()
    return cast(Caller | None, g.caller)


def admit_caller(guard: Guard) -> None:
    """Let the request through its guard, or raise what it lacks.

    Raises:
        NotSignedInError, TokenTooOldError, MissingScopeError, CrossSiteError, UnknownClientError: see their texts.

    """
    if guard.door is Door.PUBLIC:
        if request.method not in _SAFE_METHODS:
            _refuse_cross_site()
        return
    if guard.door is Door.API and "Authorization" in request.headers:
        g.caller = _caller_of_bearer()
    caller = current_caller()
    if caller.csrf_tokens and request.method not in _SAFE_METHODS:
        _refuse_cross_site()
        _check_csrf(caller.csrf_tokens, guard)
    if guard.scope is not None and guard.scope not in caller.scopes:
        if guard.scope in caller.lapsed_scopes:
            raise TokenTooOldError(guard.scope)
        raise MissingScopeError(guard.scope)


def session_cookie_name() -> str:
    """Return the cookie's name: with the host prefix on TLS, else with the port, which cookies don't tell apart."""
    settings = current_services().settings
    return "__Host-keepline" if settings.served_on_tls else f"keepline_{settings.port}"


def session_cookie_attributes() -> dict[str, Any]:
    """Return what every cookie of ours is set and deleted with."""
    return {
        "path": "/",
        "secure": current_services().settings.served_on_tls,
        "httponly": True,
        "samesite": "Lax",
    }


def load_web_user() -> WebUser | None:
    """Return the web session's person, with roles and teams that are current; flask-login's request loader."""
    secret, services = request.cookies.get(session_cookie_name()), current_services()
    if not secret:
        return None
    lapsed_is_fine = request.endpoint is None or guard_of(current_app, request.endpoint).lapsed
    session = services.sessions.find(secret) if lapsed_is_fine else services.renewal.current(secret)
    return services.sessions.user_of(session, secret) if session else None


def _caller_of_session() -> Caller | None:
    user = current_user
    if not user.is_authenticated:
        return None
    return Caller(
        identity=user.identity,
        client_id=WEB_CLIENT,
        client_name="the settings page",
        kind=Kind.USER,
        scopes=user.scopes,
        org_name=user.org_name,
        person_name=user.name or user.email or "Signed in",
        csrf_tokens=user.csrf_tokens,
        claims=user.claims,
        provider_id=user.provider_id,
    )


def _caller_of_bearer() -> Caller:
    scheme, _, token = request.headers["Authorization"].partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotSignedInError("The Authorization header must be: Bearer, a space, and an access token.")
    bearer = current_services().bearer_tokens.authenticate(token.strip(), g.request_id)
    return Caller(
        identity=bearer.identity,
        client_id=bearer.client.client_id,
        client_name=bearer.client.name,
        kind=bearer.client.kind,
        scopes=bearer.scopes,
        org_name=bearer.provider.org_name,
        person_name=bearer.person_name or bearer.person_email or "",
        lapsed_scopes=bearer.lapsed_scopes,
        claims=bearer.claims,
        provider_id=bearer.provider.id,
    )


def _refuse_cross_site() -> None:
    """Refuse what the browser itself says comes from elsewhere."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        raise CrossSiteError("The form was sent from another site, so nothing was done.")
    origin = request.headers.get("Origin")
    if origin is not None and origin not in (f"http://{request.host}", f"https://{request.host}"):
        raise CrossSiteError("The form was sent from another site, so nothing was done.")


def _check_csrf(expected: Sequence[str], guard: Guard) -> None:
    given = request.headers.get(CSRF_HEADER) or (request.form.get(CSRF_FIELD) if guard.door is Door.PAGE else None)
    if given is None or not any(hmac.compare_digest(given.encode(), token.encode()) for token in expected):
        raise StaleFormError(
            "You signed in again since this page was loaded, so nothing was done. Load it again first."
        )
