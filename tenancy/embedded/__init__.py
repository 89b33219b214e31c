"""The embedded PostgreSQL server: one cluster under the data folder, reached by its own OS user alone."""

from tenancy.embedded.address import Address, locate
from tenancy.embedded.cluster import program
from tenancy.embedded.errors import EmbeddedServerError
from tenancy.embedded.server import EmbeddedServer

__all__ = ["Address", "EmbeddedServer", "EmbeddedServerError", "locate", "program"]
