"""The frame around every page: who is signed in, where they can go, how it looks, and how times are written."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from flask import Flask, request, url_for
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from tenancy.errors import DomainError
from tenancy.guards import Caller, known_caller
from tenancy.services import current_services

_THEME_COOKIE = "keepline_theme"
THEMES = ("system", "light", "dark")


class Destination(NamedTuple):
    """One entry of the navigation; `waiting` counts what waits for an answer there."""

    label: str
    href: str
    current: bool
    waiting: int


def register_pages_frame(app: Flask) -> None:
    """Give every template its frame and filters."""
    app.jinja_env.filters["time_of"] = time_of
    app.jinja_env.filters["thousands"] = "{:,}".format
    app.context_processor(_frame)


def time_of(moment: datetime) -> Markup:
    """Return a time element: exact in the markup, in UTC for people until the page's script makes it local."""
    moment = moment.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        moment.strftime("%Y-%m-%dT%H:%M:%SZ"), f"{moment.day} {moment.strftime('%B %Y, %H:%M')} UTC"
    )


def theme_cookie_name() -> str:
    """Return the name of the cookie that keeps the look, with the host prefix on TLS."""
    return f"__Host-{_THEME_COOKIE}" if current_services().settings.served_on_tls else _THEME_COOKIE


def chosen_theme() -> str:
    """Return the look that this browser chose."""
    theme = request.cookies.get(theme_cookie_name(), "")
    return theme if theme in THEMES else "system"


def _frame() -> dict[str, Any]:
    caller = _caller_if_any()
    return {
        "caller": caller,
        "navigation": _navigation(caller),
        "theme": chosen_theme(),
        # The answer to a form has an address that can't be opened by itself.
        "here": request.full_path.removesuffix("?") if request.method == "GET" else "/settings/memory",
        "notice": None,
        "kept_text": _sent_text(),
    }


def _navigation(caller: Caller | None) -> list[Destination]:
    """Return where the caller can go; what a role gives is offered to who holds it alone."""
    if caller is None:
        return []
    places = [("Memory", url_for("block_pages.show_memory"), "memory:manage"), ("Admin", "/admin", "org:admin")]
    return [
        Destination(label, href, request.path == href or request.path.startswith(f"{href}/"), 0)
        for label, href, scope in places
        if scope in caller.scopes
    ]


def _sent_text() -> str:
    """Return the text of a form that was sent from our own page, so that an error page does not lose it."""
    if request.method != "POST" or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        return ""
    try:
        return request.form.get("text", "")
    except HTTPException:  # too large to be read
        return ""


def _caller_if_any() -> Caller | None:
    """Return the signed-in person, or None; an error page must not fail because the database is away."""
    try:
        return known_caller()
    except DomainError:
        return None
