"""The process model: few processes, a few threads each, one pooled connection a thread at most."""

from tenancy.database import refuse_unsafe_login, web_login
from tenancy.settings import read_settings

_settings = read_settings()

wsgi_app = "app:create_app()"
bind = f"127.0.0.1:{_settings.port}"
worker_class = "gthread"
workers = _settings.web_workers
threads = _settings.web_threads
# Imported once, before the fork; the pool opens no connection until a worker needs one.
preload_app = True
timeout = 60
graceful_timeout = 20
keepalive = 30
max_requests = 0
accesslog = None
errorlog = "-"
loglevel = "warning"
control_socket_disable = True


def on_starting(server: object) -> None:  # noqa: ARG001 - gunicorn passes its arbiter
    """Refuse to serve as a login that policies do not hold."""
    refuse_unsafe_login(web_login(_settings), strict_floor=_settings.strict_floor)
