"""Who writes in this request, as the trail and the stores need to know it."""

from flask import g

from memory.audit.rules import Author, Writer
from tenancy.clients import Kind
from tenancy.guards import Caller


def author_of(caller: Caller) -> Author:
    """Return the caller as an author: an assistant writes as the model, everything else as the user."""
    writer = Writer.MODEL if caller.kind is Kind.ASSISTANT else Writer.USER
    return Author(writer, caller.client_id, g.request_id)
