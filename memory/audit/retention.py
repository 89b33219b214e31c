"""Retention of details: lines that the model removed are kept for 30 days and then go."""

from datetime import datetime
from typing import Any

import psycopg


def remove_expired_details(connection: psycopg.Connection[Any], now: datetime) -> int:
    """Remove the details whose time is over, in every org, as keepline_maint; return how many went."""
    return connection.execute("DELETE FROM app.audit_details WHERE expires_at <= %s", (now,)).rowcount
