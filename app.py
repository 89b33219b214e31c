"""Keepline's web application: the table of contents."""

import secrets

from flask import request
from flask_login import LoginManager
from werkzeug.middleware.proxy_fix import ProxyFix

import account.pages
import account.provider_logout.api
import account.sessions.pages
import admin.clients.api
import admin.clients.pages
import admin.identity.api
import admin.identity.pages
import admin.pages
import admin.policy.api
import admin.policy.pages
import memory.block.api
import memory.block.pages
import memory.prompt.api
import web.service
from tenancy.clock import Clock
from tenancy.database import web_login
from tenancy.guards import Door, GuardedFlask, admit_caller, guard_of, load_web_user
from tenancy.services import build_services
from tenancy.settings import PROJECT_FOLDER, Settings, read_settings
from web.bodies import BoundedRequest
from web.headers import register_headers
from web.limits import check_limits, register_limits
from web.problems import register_problems
from web.render import register_pages_frame
from web.shapes import refuse_unknown_query

BODY_BYTES_AT_MOST = 1_000_000


def create_app(settings: Settings | None = None, clock: Clock | None = None) -> GuardedFlask:
    """Make the application; no connection is opened before the first request.

    Raises:
        SetupError: a setting is missing or wrong.

    """
    settings = settings or read_settings()
    app = GuardedFlask(
        "keepline",
        template_folder=str(PROJECT_FOLDER / "templates"),
        static_folder=str(PROJECT_FOLDER / "static"),
    )
    app.request_class = BoundedRequest
    app.url_map.merge_slashes = False  # the redirect to the merged path would name whatever host was asked for
    app.config["MAX_CONTENT_LENGTH"] = BODY_BYTES_AT_MOST
    services = app.extensions["keepline"] = build_services(settings, web_login(settings), clock)

    register_headers(app)
    register_problems(app)
    register_pages_frame(app)
    register_limits(app, services)
    _register_guards(app)

    app.register_blueprint(web.service.doors)
    app.register_blueprint(account.pages.doors)
    app.register_blueprint(account.sessions.pages.doors)
    app.register_blueprint(account.provider_logout.api.doors)
    app.register_blueprint(admin.pages.doors)
    app.register_blueprint(admin.clients.api.doors)
    app.register_blueprint(admin.clients.pages.doors)
    app.register_blueprint(admin.identity.api.doors)
    for doors in admin.identity.pages.doors:
        app.register_blueprint(doors)
    app.register_blueprint(admin.policy.api.doors)
    app.register_blueprint(admin.policy.pages.doors)
    app.register_blueprint(memory.block.api.doors)
    app.register_blueprint(memory.block.pages.doors)
    app.register_blueprint(memory.prompt.api.doors)

    if settings.trusted_proxies:
        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops)  # type: ignore[method-assign]
    return app


def _register_guards(app: GuardedFlask) -> None:
    # Without its context processor: it would ask for the session again inside the page that says that the database
    # is away.
    login_manager = LoginManager(app, add_context_processor=False)
    login_manager.session_protection = None  # nothing of a session is kept in the browser that could be protected
    login_manager.request_loader(lambda _: load_web_user())
    # flask-login looks for a cookie of its own, which is never set here, and fails without a secret key when somebody
    # sends one: under this name nobody does.
    app.config["REMEMBER_COOKIE_NAME"] = secrets.token_hex(16)

    @app.before_request
    def admit() -> None:
        if request.endpoint is None:
            return
        guard = guard_of(app, request.endpoint)
        try:
            admit_caller(guard)
        finally:
            # Also what the guard refuses a known caller is counted, or asking for it would cost nothing.
            check_limits(guard)
        if guard.door is Door.API:
            refuse_unknown_query(app.view_functions[request.endpoint])
