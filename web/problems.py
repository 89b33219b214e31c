"""Errors become replies here and nowhere else: problem details (RFC 9457) for calls, a page for people."""

import logging
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from flask import Flask, Response, g, jsonify, make_response, redirect, render_template, request
from werkzeug.exceptions import HTTPException

from tenancy.errors import (
    ConflictError,
    DomainError,
    ForbiddenError,
    InvalidError,
    MalformedError,
    MediaTypeError,
    NotFoundError,
    NotSignedInError,
    PreconditionError,
    TooManyRequestsError,
    UnavailableError,
)
from tenancy.services import current_services
from tenancy.settings import Settings

METADATA_PATH = "/.well-known/oauth-protected-resource/v1"

logger = logging.getLogger(__name__)

_STATUS: tuple[tuple[type[DomainError], HTTPStatus], ...] = (
    (NotSignedInError, HTTPStatus.UNAUTHORIZED),
    (ForbiddenError, HTTPStatus.FORBIDDEN),
    (MalformedError, HTTPStatus.BAD_REQUEST),
    (MediaTypeError, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
    (NotFoundError, HTTPStatus.NOT_FOUND),
    (ConflictError, HTTPStatus.CONFLICT),
    (PreconditionError, HTTPStatus.PRECONDITION_FAILED),
    (InvalidError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (TooManyRequestsError, HTTPStatus.TOO_MANY_REQUESTS),
    (UnavailableError, HTTPStatus.SERVICE_UNAVAILABLE),
)
_HTTP_SENTENCES = {
    HTTPStatus.NOT_FOUND: ("not_found", "Not found", "There is nothing here that you can see."),
    HTTPStatus.METHOD_NOT_ALLOWED: ("method_not_allowed", "Not possible here", "This address takes another method."),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: (
        "too_large", "The request is too large", "Nothing was read or stored. Send less than 1 MB.",
    ),
    HTTPStatus.BAD_REQUEST: ("malformed", "The request cannot be read", "Nothing was done. Check the request's form."),
}  # fmt: skip


def metadata_address(settings: Settings) -> str:
    """Return where the description of the protected resource is: the API's path after the well-known one."""
    return f"{settings.public_url}{METADATA_PATH}"


def status_of(error: DomainError) -> HTTPStatus:
    """Return the status that belongs to an error's kind."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), HTTPStatus.BAD_REQUEST)


def register_problems(app: Flask) -> None:
    """Make the app answer every error in the one shape."""
    app.register_error_handler(DomainError, _answer_domain_error)
    app.register_error_handler(HTTPException, _answer_http_error)
    app.register_error_handler(Exception, _answer_unexpected)


def _answer_domain_error(error: DomainError) -> Response:
    status = status_of(error)
    if isinstance(error, NotSignedInError) and not _is_call() and request.method == "GET":
        return _to_sign_in(error)
    sign_in_path = error.sign_in_path if isinstance(error, NotSignedInError) else "/login"
    reply = _reply(status, error.code, error.title, error.detail, error.fields, sign_in_path)
    if isinstance(error, NotSignedInError):
        reply.headers["WWW-Authenticate"] = _challenge(error)
    if isinstance(error, UnavailableError | TooManyRequestsError):
        reply.headers["Retry-After"] = str(error.retry_after_seconds)
    return reply


def _challenge(error: NotSignedInError) -> str:
    """Return what the caller is asked for, and where a program learns about it (RFC 9728, section 5.1)."""
    parameters = ['realm="keepline"', f'resource_metadata="{metadata_address(current_services().settings)}"']
    if error.challenge:
        parameters.append(error.challenge)
    elif "Authorization" in request.headers:
        parameters.append('error="invalid_token"')
    return f"Bearer {', '.join(parameters)}"


def _answer_http_error(error: HTTPException) -> Response:
    if error.code is None or error.code < HTTPStatus.BAD_REQUEST:
        return make_response(error.get_response())
    status = HTTPStatus(error.code)
    code, title, sentence = _HTTP_SENTENCES.get(status, (status.name.lower(), status.phrase, status.description))
    reply = _reply(status, code, title, sentence, {})
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        reply.headers["Allow"] = error.get_response().headers.get("Allow", "")
    return reply


def _answer_unexpected(error: Exception) -> Response:
    logger.error("Request %s failed: %s", g.get("request_id", "-"), type(error).__name__, exc_info=error)
    return _reply(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal",
        "Something broke here",
        "The request could not be finished, and what it had begun was rolled back. The reference below finds it in "
        "the server's log.",
        {},
    )


def _reply(
    status: HTTPStatus, code: str, title: str, detail: str, fields: Any, sign_in_path: str = "/login"
) -> Response:
    reference = g.get("request_id", "")
    if _is_call():
        problem = {
            "type": f"urn:keepline:problem:{code}",
            "title": title,
            "status": status.value,
            "detail": detail,
            "code": code,
            "request_id": reference,
            **fields,
        }
        reply = make_response(jsonify(problem), status)
        reply.content_type = "application/problem+json"
        return reply
    action = {"label": "Try again", "href": "/login"} if code == "sign_in_refused" else None
    if code == "not_signed_in":
        action = {"label": "Sign in", "href": sign_in_path}
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS) and request.method == "GET":
        action = {"label": "Try again", "href": request.full_path.removesuffix("?")}
    page = render_template("error.html", title=title, sentence=detail, action=action, reference=reference)
    return make_response(page, status)


def _to_sign_in(error: NotSignedInError) -> Response:
    wanted = request.full_path.removesuffix("?")
    separator = "&" if "?" in error.sign_in_path else "?"
    return make_response(redirect(f"{error.sign_in_path}{separator}next={quote(wanted, safe='')}"))


def _is_call() -> bool:
    return request.path.startswith(("/v1/", "/healthz", "/readyz", "/.well-known/", "/logout/backchannel"))
