"""The page of a person's own sign-ins: which browsers, since when, and signing out one of them or everywhere."""

from uuid import UUID

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from flask_login import current_user

from memory.audit import store as audit
from memory.audit.authors import author_of
from memory.audit.rules import Entry
from tenancy.errors import NotFoundError
from tenancy.guards import current_caller, guarded, page, session_cookie_attributes, session_cookie_name
from tenancy.services import current_services

doors = Blueprint("session_pages", __name__)

_NOTICES = {"ended": "That browser is signed out."}


@doors.get("/settings/sessions")
@guarded(page(lapsed=True))
def show_sessions() -> Response:
    """List the browsers in which the person is signed in."""
    caller, services = current_caller(), current_services()
    with services.binder.bound(caller.identity) as connection:
        sessions = services.sessions.list_own(connection, caller.identity)
    notice = _NOTICES.get(request.args.get("notice", ""))
    body = render_template("sessions.html", sessions=sessions, this_session=current_user.session_id, notice=notice)
    return make_response(body)


@doors.post("/settings/sessions/<uuid:session_id>/end")
@guarded(page(lapsed=True))
def end_session(session_id: UUID) -> Response:
    """Sign one browser out."""
    caller, services = current_caller(), current_services()
    with services.binder.bound(caller.identity) as connection:
        if not services.sessions.end(connection, caller.identity, session_id):
            raise NotFoundError("That browser is signed out already. Nothing was changed.")
        audit.append(connection, author_of(caller), Entry("session.end", "session", str(session_id)))
    if session_id == current_user.session_id:
        return _signed_out()
    return make_response(redirect(url_for("session_pages.show_sessions", notice="ended"), 303))


@doors.post("/settings/sessions/end-everywhere")
@guarded(page(lapsed=True))
def end_everywhere() -> Response:
    """Sign every browser out, and refuse the tokens that programs hold for the person."""
    caller, services = current_caller(), current_services()
    with services.binder.bound(caller.identity) as connection:
        ended = services.sessions.end_everywhere(connection)
        entry = Entry("session.end_everywhere", "user", str(caller.identity.user_id), counts={"sessions": ended})
        audit.append(connection, author_of(caller), entry)
    return _signed_out()


def _signed_out() -> Response:
    reply = make_response(redirect("/login?notice=signed_out", 303))
    reply.delete_cookie(session_cookie_name(), **session_cookie_attributes())
    return reply
