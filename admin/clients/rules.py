"""Rules of registered clients: ids, names, scopes, and how long a replaced one goes on."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from admin.rules import text_fault
from tenancy.clients import WEB_CLIENT, Kind, allowed_scopes
from tenancy.errors import InvalidError

OVERLAP_HOURS = range(169)
OVERLAP_HOURS_DEFAULT = 24


def client_id_fault(client_id: str) -> str | None:
    """Return what is wrong with a client's id, or None."""
    if client_id == WEB_CLIENT:
        return f"{WEB_CLIENT} is what the settings page is called in the trail. Choose another id."
    return text_fault(client_id)


def scopes_fault(kind: Kind, scopes: Collection[str]) -> str | None:
    """Return what is wrong with the scopes of a client of this kind, or None."""
    allowed = allowed_scopes(kind)
    refused = sorted(set(scopes) - allowed)
    if not scopes or refused:
        named = f"; not {', '.join(scope[:100] for scope in refused[:10])}" if refused else ""
        article = "An assistant" if kind is Kind.ASSISTANT else "A user client"
        return f"{article} can hold {', '.join(sorted(allowed))}{named}. Choose at least one."
    return None


def overlap_of(hours: Any) -> timedelta:
    """Return how long a replaced client goes on.

    Raises:
        InvalidError: the hours are no whole number from 0 to 168.

    """
    if type(hours) is not int or hours not in OVERLAP_HOURS:
        fault = f"Must be a whole number of hours, {OVERLAP_HOURS[0]} to {OVERLAP_HOURS[-1]}."
        raise InvalidError(f"The request does not fit. overlap_hours: {fault}", errors={"overlap_hours": [fault]})
    return timedelta(hours=hours)
