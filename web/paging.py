"""Cursors: where a list goes on. They are sealed and belong to one user and one list."""

import json
from typing import Any

from marshmallow import validate

from tenancy.errors import InvalidError
from tenancy.guards import Caller
from tenancy.services import current_services
from web.shapes import Shape, Text, WholeNumber

LIMIT_DEFAULT = 20
LIMIT_MOST = 100


class Paging(Shape):
    """What every list takes."""

    limit = WholeNumber(load_default=LIMIT_DEFAULT, validate=validate.Range(min=1, max=LIMIT_MOST))
    cursor = Text(load_default=None, validate=validate.Length(max=2000))


def write_cursor(caller: Caller, name: str, position: list[str]) -> str:
    """Return the cursor of a position in the caller's list of that name."""
    content = json.dumps([str(caller.identity.org_id), str(caller.identity.user_id), name, *position])
    return current_services().sessions.box.seal(content.encode()).decode()


def read_cursor(caller: Caller, name: str, cursor: str | None) -> list[str] | None:
    """Return the position that a cursor names, or None without one.

    Raises:
        InvalidError: the cursor is not of this caller and list.

    """
    if cursor is None:
        return None
    opened = current_services().sessions.box.open(cursor.encode("utf-8", "replace"))
    content: list[Any] = json.loads(opened) if opened else []
    if content[:3] != [str(caller.identity.org_id), str(caller.identity.user_id), name]:
        raise InvalidError(
            "The cursor is not one of this list. Start again without it.", errors={"cursor": ["unknown"]}
        )
    return content[3:]
