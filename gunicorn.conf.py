"""The process model: few processes, a few threads each, one pooled connection a thread at most."""

import logging
import sys

from tenancy.database import refuse_unsafe_login, web_login
from tenancy.embedded import EmbeddedServerError
from tenancy.errors import SetupError
from tenancy.settings import Settings, ensure_keys, read_settings


def _checked_settings() -> Settings:
    """Read the settings and refuse to serve as a login that policies do not hold, with a sentence and no trace."""
    try:
        settings = read_settings()
        ensure_keys(settings)
        refuse_unsafe_login(web_login(settings), strict_floor=settings.strict_floor)
    except (SetupError, EmbeddedServerError) as error:
        sys.exit(f"keepline: {error}")
    return settings


_settings = _checked_settings()
if _settings.served_on_tls and not _settings.trusted_proxies:
    logging.getLogger("keepline").warning(
        "KEEPLINE_TRUSTED_PROXIES is 0, but browsers come by https, so through a proxy: everybody's address is then "
        "the proxy's, and sign-ins are limited as if they were one person's."
    )

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
# A bearer token may have 16,384 characters (tenancy/bearer.py); its header is a little longer.
limit_request_field_size = 17_000
