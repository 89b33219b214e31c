"""The provider's pages and endpoints, several issuers by path in one Flask application."""

import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from authlib.integrations.flask_oauth2 import ResourceProtector
from authlib.oauth2 import OAuth2Error
from flask import Flask, Response, abort, g, jsonify, make_response, render_template, request
from joserfc.jwk import KeySet

from demo.people import ORGS, Org, Person
from demo.provider.claims import AccessTokenValidator, identity_claims
from demo.provider.grants import ProviderServer
from demo.provider.issuer import Client, Issuer, demo_clients
from demo.provider.keys import load_signing_key
from demo.provider.store import SignIn

_LARGEST_REQUEST_BYTES = 64 * 1024


def create_provider(
    base_url: str,
    folder: Path,
    web_redirect_uris: Mapping[str, tuple[str, ...]] | tuple[str, ...],
    web_client_secret: str,
) -> Flask:
    """Build the provider: one issuer an org, at `base_url/SLUG`.

    `folder` keeps the signing keys. `web_redirect_uris` are the addresses that Keepline's web application
    may be sent back to, for all issuers or by org slug. Only requests for the host of `base_url` are
    answered. Raises ValueError when the web application would have no secret or no such address.
    """

    def issuer_for(org: Org) -> Issuer:
        uris = web_redirect_uris if isinstance(web_redirect_uris, tuple) else web_redirect_uris[org.slug]
        return Issuer(
            url=f"{base_url.rstrip('/')}/{org.slug}",
            org=org,
            key=load_signing_key(folder, org.slug),
            clients=demo_clients(uris, web_client_secret),
        )

    app = Flask(__name__, template_folder="../templates", static_folder=None)
    app.config["TRUSTED_HOSTS"] = [urlsplit(base_url).hostname]
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_REQUEST_BYTES
    app.after_request(_harden)
    _add_endpoints(app, {org.slug: ProviderServer(issuer_for(org)) for org in ORGS})
    return app


def _add_endpoints(app: Flask, servers: Mapping[str, ProviderServer]) -> None:
    protectors = {slug: ResourceProtector() for slug in servers}
    for slug, protector in protectors.items():
        protector.register_token_validator(AccessTokenValidator(servers[slug].issuer))

    def server_at(slug: str) -> ProviderServer:
        return servers[slug] if slug in servers else abort(404)

    @app.get("/<slug>/.well-known/openid-configuration")
    def describe(slug: str) -> Response:
        return jsonify(server_at(slug).issuer.metadata())

    @app.get("/<slug>/jwks")
    def publish_keys(slug: str) -> Response:
        return jsonify(KeySet([server_at(slug).issuer.key]).as_dict(private=False))

    @app.get("/<slug>/authorize")
    def choose_person(slug: str) -> Response:
        return _authorize(server_at(slug), answer=False)

    @app.post("/<slug>/authorize")
    def sign_in(slug: str) -> Response:
        return _authorize(server_at(slug), answer=True)

    @app.post("/<slug>/token")
    def issue_token(slug: str) -> Response:
        response: Response = server_at(slug).create_token_response()
        return response

    @app.route("/<slug>/userinfo", methods=["GET", "POST"])
    def describe_person(slug: str) -> Response:
        issuer: Issuer = server_at(slug).issuer
        with protectors[slug].acquire("openid") as token:
            person = next(person for person in issuer.people if person.subject == token["sub"])
            return jsonify(identity_claims(person, token["scope"]))


def _authorize(server: ProviderServer, *, answer: bool) -> Response:
    """Answer an authorization request: the page that asks who is signing in, or what they answered.

    A mistake is told to the application by a redirect, but only once its address is known to be its own
    (RFC 6749, section 4.1.2.1); before that it is told to the person.
    """
    client = server.query_client(request.values.get("client_id", ""))
    if client is None:
        return _refuse("This identity provider does not know the application that sent you here.")
    addresses = [*request.args.getlist("redirect_uri"), *request.form.getlist("redirect_uri")]
    if len(addresses) != 1 or not client.check_redirect_uri(addresses[0]):
        return _refuse(f"The address to return to is not one that {client.display_name} has registered.")
    try:
        _check_supported()
        grant = server.get_consent_grant()
    except OAuth2Error as error:
        error.redirect_uri = addresses[0]
        error.state = request.values.get("state")
        response: Response = server.handle_error_response(request, error)
        server.issuer_in_response.add_issuer_parameter(server, response)
        return response
    if not answer:
        return _ask(server.issuer, client, addresses[0])
    if "decline" in request.form:
        return _granted(server, grant, None)
    for person in server.issuer.people:
        if person.login_name == request.form.get("person"):
            return _granted(server, grant, person)
    return _ask(server.issuer, client, addresses[0], mistake="Choose one of the people below.")


def _check_supported() -> None:
    # Authlib puts the response type into an error text that may not hold every character, so it is
    # checked here. The other two are answered as OpenID Connect Core, section 3.1.2.6, asks.
    if request.values.get("response_type") != "code":
        raise OAuth2Error(error="unsupported_response_type", description="Only 'code' is supported.")
    for parameter in ("request", "request_uri"):
        if parameter in request.values:
            raise OAuth2Error(error=f"{parameter}_not_supported")


def _granted(server: ProviderServer, grant: object, person: Person | None) -> Response:
    # An ID token says when somebody signed in as the rest of the world counts time, so that an application
    # can ask for a recent sign-in; the demo's movable clock must not reach it.
    now = int(time.time())  # noqa: TID251
    response: Response = server.create_authorization_response(
        grant_user=SignIn(person, now) if person else None, grant=grant
    )
    return response


def _ask(issuer: Issuer, client: Client, redirect_uri: str, mistake: str | None = None) -> Response:
    hint = request.values.get("login_hint")
    people = sorted(issuer.people, key=lambda person: person.login_name != hint)
    target = urlsplit(redirect_uri)
    # Browsers hold `form-action` against where the answer redirects to as well.
    g.form_targets = f"'self' {target.scheme}://{target.netloc}"
    page = _render("choose_person.html", org=issuer.org, client=client, people=people, mistake=mistake)
    page.status_code = 400 if mistake else 200
    return page


def _refuse(reason: str) -> Response:
    page = _render("refused.html", reason=reason)
    page.status_code = 400
    return page


def _render(template: str, **values: object) -> Response:
    g.style_nonce = secrets.token_urlsafe(16)
    return make_response(render_template(template, style_nonce=g.style_nonce, **values))


def _harden(response: Response) -> Response:
    style = f"'nonce-{g.style_nonce}'" if "style_nonce" in g else "'none'"
    form_targets = g.get("form_targets", "'none'")
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src {style}; form-action {form_targets}; base-uri 'none'; frame-ancestors 'none'"
    )
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
