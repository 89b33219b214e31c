"""Cursors: where a list goes on. They are sealed and belong to one user and one list."""

import json
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar
from uuid import UUID

from marshmallow import validate

from tenancy.errors import InvalidError
from tenancy.guards import Caller
from tenancy.services import current_services
from web.shapes import QueryNumber, Shape, Text

LIMIT_DEFAULT = 20
LIMIT_MOST = 100


class Recorded(Protocol):
    """Something with an id, which is larger the later it was made."""

    @property
    def id(self) -> UUID:
        """The id that a list is in the order of."""


Record = TypeVar("Record", bound=Recorded)


class Paging(Shape):
    """What every list takes."""

    limit = QueryNumber(load_default=LIMIT_DEFAULT, validate=validate.Range(min=1, max=LIMIT_MOST))
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


def read_after(caller: Caller, name: str, cursor: str | None) -> UUID | None:
    """Return the id after which a list that is in the order of ids goes on, or None at its start.

    Raises:
        InvalidError: the cursor is not of this caller and list.

    """
    position = read_cursor(caller, name, cursor)
    return UUID(position[0]) if position else None


def page_of(caller: Caller, name: str, found: Sequence[Record], limit: int) -> tuple[Sequence[Record], str | None]:
    """Return the first `limit` records of those found, and the cursor of the next page where there are more.

    Whoever looks for them asks for one more than the limit, in the order of ids.
    """
    shown = found[:limit]
    following = write_cursor(caller, name, [str(shown[-1].id)]) if len(found) > limit else None
    return shown, following
