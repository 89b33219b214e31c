"""A small OpenID provider for the demo: one process on loopback, one issuer a tenant.

It signs people in without a password, so it must never be reachable from another machine.
"""

from demo.provider.app import create_provider
from demo.provider.serve import WEB_CALLBACK_PATH, serve_provider

__all__ = ["WEB_CALLBACK_PATH", "create_provider", "serve_provider"]
