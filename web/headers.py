"""Headers of every reply: what a browser may load, who may frame it, and what no cache may keep."""

from uuid import uuid4

from flask import Flask, Response, g, request

from tenancy.services import current_services

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action {forms}; base-uri 'none'; frame-ancestors 'none'"
)
# Browsers hold a form's redirects to form-action as well, and signing in redirects to the identity provider.
_SIGN_IN_PAGES = frozenset({"/", "/login", "/login/start"})


def register_headers(app: Flask) -> None:
    """Number every request, and put the headers on every reply."""
    app.before_request(_number_request)
    app.after_request(_add_headers)


def _number_request() -> None:
    g.request_id = str(uuid4())


def _add_headers(reply: Response) -> Response:
    headers = reply.headers
    headers["Content-Security-Policy"] = _POLICY.format(forms=_form_targets())
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "same-origin"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
    headers["X-Request-Id"] = g.get("request_id", "")
    if current_services().settings.served_on_tls:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    if request.endpoint == "static":
        headers["Cache-Control"] = "public, no-cache"  # asked again each time, answered by ETag
    else:
        headers["Cache-Control"] = "private, no-store"
    return reply


def _form_targets() -> str:
    if request.path not in _SIGN_IN_PAGES:
        return "'self'"
    return "'self' https: http://127.0.0.1:*" if current_services().settings.demo else "'self' https:"
