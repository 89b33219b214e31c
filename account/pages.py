"""The start page, signing in and out, and the look."""

import secrets
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from flask import Blueprint, Response, g, make_response, redirect, render_template, request
from flask_login import current_user

from account.rules import safe_return_path
from memory.audit import store as audit
from memory.audit.rules import Author, Entry, Writer
from tenancy.clients import WEB_CLIENT
from tenancy.errors import InvalidError
from tenancy.guards import PUBLIC, guarded, known_caller, page, session_cookie_attributes, session_cookie_name
from tenancy.identity import Identity
from tenancy.oidc import SignInRefusedError
from tenancy.roles import rights_from_claims
from tenancy.services import current_services
from web.render import THEMES, theme_cookie_name

doors = Blueprint("account", __name__)

_BROWSER_MINUTES = 10
_THEME_DAYS = 365
_SESSION_DAYS = 7


@doors.get("/")
@guarded(PUBLIC)
def show_start() -> Response:
    """Say what Keepline is, and let people in."""
    return make_response(render_template("start.html", **_sign_in_form()))


@doors.get("/login")
@guarded(PUBLIC)
def show_sign_in() -> Response:
    """Ask for the company's short name; the sign-in itself happens at its identity provider."""
    return make_response(render_template("login.html", **_sign_in_form()))


@doors.get("/login/start")
@guarded(PUBLIC)
def start_sign_in() -> Response:
    """Send the browser to the org's identity provider."""
    services = current_services()
    public = services.settings.public_url
    if request.host.lower() != urlsplit(public).netloc and "moved" not in request.args:
        # The callback comes to the public address, and this browser's cookie must be there by then. Once only: behind
        # a proxy that does not pass the host on, every request seems to come by another address.
        return make_response(redirect(f"{public}{request.full_path.removesuffix('?')}{_separator()}moved=1"))
    slug, return_to = request.args.get("org", "").strip().lower(), safe_return_path(request.args.get("next"))
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        # Another site would sign its reader in to an org of its choice, and read what they then write there.
        return make_response(render_template("login.html", **{**_sign_in_form(), "org": slug, "next": return_to}))
    provider = services.directory.find_sign_in_provider(slug) if slug and "\0" not in slug else None
    if provider is None:
        problem = (
            "Enter your company's short name." if not slug else "No company with that short name uses Keepline here."
        )
        form = {**_sign_in_form(), "org": slug, "next": return_to, "problem": problem}
        return make_response(render_template("login.html", **form), 422)
    address, sign_in = services.providers.begin(provider, _callback_address(), return_to)
    browser = request.cookies.get(_browser_cookie_name()) or secrets.token_urlsafe(32)
    services.sessions.keep_sign_in(sign_in, browser)
    reply = make_response(redirect(address))
    reply.set_cookie(
        _browser_cookie_name(), browser, max_age=timedelta(minutes=_BROWSER_MINUTES), **session_cookie_attributes()
    )
    return reply


@doors.get("/login/callback")
@guarded(PUBLIC)
def finish_sign_in() -> Response:
    """Take the identity provider's answer and start a new session; an older one of this browser ends."""
    services = current_services()
    answer = request.args.to_dict()
    browser = request.cookies.get(_browser_cookie_name(), "")
    sign_in = services.sessions.take_sign_in(answer.get("state", ""), browser)
    # Where it began, whatever an admin chose for signing in meanwhile: a code belongs to no other provider.
    provider = services.directory.find_provider(UUID(sign_in.org_id), UUID(sign_in.provider_id)) if sign_in else None
    if sign_in is None or provider is None:
        raise SignInRefusedError(
            "This sign-in is not known: it was used before, is over ten minutes old, or began elsewhere."
        )
    signed_in = services.providers.finish(provider, _callback_address(), sign_in, answer)
    rights = rights_from_claims(provider.org_id, signed_in.claims, provider.rules)
    author = _author()
    user_id = services.directory.resolve_user(
        provider, str(signed_in.claims["sub"]), signed_in.claims, client=WEB_CLIENT, request_id=author.request_id
    )
    identity = Identity(provider.org_id, user_id, rights.roles, rights.team_ids, rights.led_team_ids)
    _end_current_session()
    with services.binder.bound(identity) as connection:
        session_id, secret = services.sessions.start(connection, identity, provider, signed_in, rights)
        audit.append(connection, author, Entry("session.start", "session", str(session_id)))
    reply = make_response(redirect(sign_in.return_to))
    reply.set_cookie(
        session_cookie_name(), secret, max_age=timedelta(days=_SESSION_DAYS), **session_cookie_attributes()
    )
    return reply


@doors.post("/logout")
@guarded(page(lapsed=True))
def sign_out() -> Response:
    """End the session here and on the server."""
    _end_current_session()
    reply = make_response(redirect("/login?notice=signed_out", 303))
    reply.delete_cookie(session_cookie_name(), **session_cookie_attributes())
    return reply


@doors.post("/theme")
@guarded(PUBLIC)
def choose_theme() -> Response:
    """Keep the look that this browser chose."""
    theme = request.form.get("theme", "")
    if theme not in THEMES:
        raise InvalidError("There is no such look. Nothing was changed.")
    reply = make_response(redirect(safe_return_path(request.form.get("next") or "/"), 303))
    reply.set_cookie(theme_cookie_name(), theme, max_age=timedelta(days=_THEME_DAYS), **session_cookie_attributes())
    return reply


def _sign_in_form() -> dict[str, Any]:
    settings = current_services().settings
    signed_out = request.args.get("notice") == "signed_out" and known_caller() is None
    return {
        "org": request.args.get("org", ""),
        "next": safe_return_path(request.args.get("next")),
        "problem": None,
        "demo_orgs": settings.demo_orgs,
        "notice": "You are signed out." if signed_out else None,
    }


def _end_current_session() -> None:
    if not current_user.is_authenticated:
        return
    services = current_services()
    user = current_user
    with services.binder.bound(user.identity) as connection:
        if services.sessions.end(connection, user.identity, user.session_id):
            audit.append(connection, _author(), Entry("session.end", "session", str(user.session_id)))


def _separator() -> str:
    return "&" if request.query_string else "?"


def _author() -> Author:
    return Author(Writer.USER, WEB_CLIENT, g.request_id)


def _callback_address() -> str:
    return f"{current_services().settings.public_url}/login/callback"


def _browser_cookie_name() -> str:
    return f"{session_cookie_name()}_sign_in"
