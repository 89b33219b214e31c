"""Rate limits: how many calls a minute one user, one org and one address may make.

The window is a minute that begins with the first call. Counters are kept by org id and user id, never by credential:
a fresh token is no fresh allowance. A storage that does not answer stops nobody.
"""

import logging
import time
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from math import ceil
from typing import cast

from flask import Flask, current_app, g, request
from flask_limiter import Limiter
from limits import RateLimitItemPerMinute
from limits.errors import ConfigurationError
from limits.strategies import RateLimiter

import web.shared_counters  # noqa: F401 - makes its kind of storage known to whoever names it by address
from tenancy.clock import Clock
from tenancy.errors import SetupError, TooManyRequestsError
from tenancy.guards import Door, Guard
from tenancy.services import Services
from tenancy.settings import Settings

logger = logging.getLogger(__name__)

# What begins or ends a sign-in for somebody whom nobody knows yet, and asks the database or a provider for it. Of a
# provider's logouts only the refused ones are counted: one address speaks for all of its people.
LIMITED_BY_ADDRESS = frozenset({"/login/start", "/login/callback"})
_SECONDS_TO_WAIT_FOR_A_STORAGE = 0.25
_SECONDS_WITHOUT_A_SILENT_STORAGE = 5
_SECONDS_BETWEEN_WARNINGS = 60
_NETWORK_BITS = 64
_TIME_LIMITS_OF_CLIENTS = {
    "redis": ("socket_connect_timeout", "socket_timeout"),
    "valkey": ("socket_connect_timeout", "socket_timeout"),
    "memcached": ("connect_timeout", "timeout"),
}


class Limits:
    """The counters of one process, on a storage that the processes share."""

    def __init__(self, settings: Settings, counters: RateLimiter, clock: Clock) -> None:
        self._counters = counters
        self._clock = clock
        self._of_user = RateLimitItemPerMinute(settings.rate_limit_user, namespace="keepline/user")
        self._of_org = RateLimitItemPerMinute(settings.rate_limit_org, namespace="keepline/org")
        self._of_address = RateLimitItemPerMinute(settings.rate_limit_address, namespace="keepline/address")
        self._silent_until = 0.0
        self._next_warning = 0.0

    def count_caller(self, org_id: str, user_id: str) -> None:
        """Count one call of a user; one that is over its own limit takes nothing of the org's.

        Raises:
            TooManyRequestsError: the user or the org has made its calls of this minute.

        """
        self._count(self._of_user, org_id, user_id)
        self._count(self._of_org, org_id)

    def count_address(self, address: str | None) -> None:
        """Count one call of an address that nobody is signed in from.

        Raises:
            TooManyRequestsError: the address has made its calls of this minute.

        """
        self._count(self._of_address, network_of(address))

    def _count(self, limit: RateLimitItemPerMinute, *whose: str) -> None:
        if time.monotonic() < self._silent_until:
            return
        try:
            if self._counters.hit(limit, *whose):
                return
            ends = self._counters.get_window_stats(limit, *whose).reset_time
        except Exception as error:  # whatever a storage's client raises, the service goes on
            self._go_on_without(error)
            return
        raise TooManyRequestsError(max(1, ceil(ends - self._clock.credential_now().timestamp())))

    def _go_on_without(self, error: Exception) -> None:
        now = time.monotonic()
        self._silent_until = now + _SECONDS_WITHOUT_A_SILENT_STORAGE
        if now >= self._next_warning:
            self._next_warning = now + _SECONDS_BETWEEN_WARNINGS
            # The error's text may hold the storage's address, and that its password.
            logger.warning(
                "The storage of the rate limits does not answer (%s); calls are let through uncounted.",
                type(error).__name__,
            )


def register_limits(app: Flask, services: Services) -> None:
    """Make the app's counters; before the processes are forked, so that they share them.

    Raises:
        SetupError: the storage is of no known kind, or its client is not installed.

    """
    settings = services.settings
    limiter = create_limiter(settings.rate_limit_storage)
    app.extensions["keepline.limits"] = Limits(settings, limiter.limiter, services.clock)


def check_limits(guard: Guard) -> None:
    """Count the request for its caller, or on the sign-in's routes for its address; others are not counted.

    Raises:
        TooManyRequestsError: there were as many as a minute may have.

    """
    limits = cast(Limits, current_app.extensions["keepline.limits"])
    if guard.door is Door.PUBLIC:
        if request.path in LIMITED_BY_ADDRESS:
            limits.count_address(request.remote_addr)
        return
    caller = g.get("caller")
    if caller is not None:
        limits.count_caller(str(caller.identity.org_id), str(caller.identity.user_id))


def count_refusal() -> None:
    """Count a refused request of somebody whom nobody knows for its address.

    Raises:
        TooManyRequestsError: there were as many as a minute may have.

    """
    limits = cast(Limits, current_app.extensions["keepline.limits"])
    limits.count_address(request.remote_addr)


def create_limiter(address: str) -> Limiter:
    """Return Flask-Limiter on the storage at an address; no connection is opened.

    It is put on an app of its own and not on ours: who is counted is known after the guard, so it is asked there, and
    its hooks, which would have nothing to check, cost each request 0.06 ms.

    Raises:
        SetupError: the address is of no known kind, or the client for it is not installed.

    """
    names = next((names for kind, names in _TIME_LIMITS_OF_CLIENTS.items() if address.startswith(kind)), ())
    options = dict.fromkeys(names, _SECONDS_TO_WAIT_FOR_A_STORAGE)
    try:
        return Limiter(
            _nobody,
            app=Flask("limits"),
            storage_uri=address,
            storage_options=options,  # type: ignore[arg-type] # numbers are taken, whatever its annotation says
            strategy="fixed-window",
        )
    except (ConfigurationError, ValueError, TypeError, ImportError) as error:
        # The error's own text may repeat the address, and that hold a password.
        raise SetupError(
            "KEEPLINE_RATE_LIMIT_STORAGE cannot be used: its host, port or options cannot be read, or the Python "
            "package for it is not installed."
        ) from error


def _nobody() -> str:
    """Name nobody: limits are hit with the org's and the user's ids, never by a function of the request."""
    return ""


def network_of(address: str | None) -> str:
    """Return what is counted as one address: of IPv6 the /64, which a single line has all of."""
    try:
        parsed: IPv4Address | IPv6Address = ip_address((address or "").partition("%")[0])
    except ValueError:  # a proxy that names its callers otherwise
        return address or "unknown"
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((parsed, _NETWORK_BITS), strict=False))
