"""Headers of every reply: what a browser may load, who may frame it, and what no cache may keep."""

from http import HTTPStatus
from uuid import uuid4

from flask import Flask, Response, g, request

from tenancy.services import current_services

_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action {forms}; base-uri 'none'; frame-ancestors 'none'"
)
_CALL_POLICY = "default-src 'none'; frame-ancestors 'none'"
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_ON_PAGES = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# The same for everybody; files are asked for again each time.
_PUBLIC = {"static": "public, no-cache", "service.show_resource_metadata": "public, max-age=3600"}
_PUBLIC_STATUSES = frozenset({HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.NOT_MODIFIED})
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
    headers.extend(_ALWAYS)
    headers["X-Request-Id"] = g.get("request_id", "")
    if reply.mimetype == "text/html":
        headers["Content-Security-Policy"] = _PAGE_POLICY.format(forms=_form_targets())
        headers.extend(_ON_PAGES)
    else:
        headers["Content-Security-Policy"] = _CALL_POLICY
    if current_services().settings.served_on_tls:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    headers["Cache-Control"] = _caching(reply)
    return reply


def _caching(reply: Response) -> str:
    """Return who may keep the reply: caches what is the same for everybody, and nobody anything else.

    Where a public file is missing, the page that says so has the name and the form tokens of whoever is signed in.
    """
    if reply.status_code not in _PUBLIC_STATUSES:
        return "private, no-store"
    return _PUBLIC.get(request.endpoint or "", "private, no-store")


def _form_targets() -> str:
    if request.path not in _SIGN_IN_PAGES:
        return "'self'"
    return "'self' https: http://127.0.0.1:*" if current_services().settings.demo else "'self' https:"
