"""Shapes of requests and replies: marshmallow schemas, how a body is read, and what a view declares of itself."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from typing import Any, TypeVar

from flask import Response, jsonify, request
from marshmallow import RAISE, Schema, ValidationError, fields

from tenancy.errors import InvalidError, MalformedError, MediaTypeError

View = TypeVar("View", bound=Callable[..., Any])
_PLAIN_DIGITS = re.compile(r"0|-?[1-9][0-9]{0,17}")
CONVERSATION_ID = r"^[A-Za-z0-9._:-]{1,128}\Z"


class Shape(Schema):
    """A request or reply; a field it does not name is refused."""

    class Meta:
        """Refuse what is not named."""

        unknown = RAISE


class Text(fields.String):
    """Text that is valid Unicode: a lone surrogate is refused, for no database or file can hold it."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to name a field's messages
        "surrogate": "Holds half of a surrogate pair, which is not a character."
    }

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise self.make_error("surrogate")
        return str(text)


class Flag(fields.Boolean):
    """True or false, and nothing that only counts as one of them."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:  # noqa: ARG002
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class WholeNumber(fields.Integer):
    """A whole number, written as JSON writes one."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:  # noqa: ARG002
        if type(value) is not int:
            raise self.make_error("invalid", input=value)
        return value


class QueryNumber(WholeNumber):
    """A whole number of a query, which comes as text: up to 18 plain digits without leading zeros."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        plain = isinstance(value, str) and _PLAIN_DIGITS.fullmatch(value) is not None
        return super()._deserialize(int(value) if plain else value, attr, data, **kwargs)


class UtcTime(fields.DateTime):
    """A time in UTC, written with Z and microseconds dropped where there are none."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:  # noqa: ARG002
        return None if value is None else utc(value)


def utc(value: datetime) -> str:
    """Return a time as the API writes it."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


_READING = frozenset({"GET", "HEAD"})
_NO_QUERY = Shape()


def takes(shape: type[Shape]) -> Callable[[View], View]:
    """Read the body by the shape and pass it to the view as `body`.

    The view's caller gets 415, 400 or 422 before the view runs.
    """

    def wrap(view: View) -> View:
        schema = shape()

        @wraps(view)
        def with_body(*args: Any, **kwargs: Any) -> Any:
            return view(*args, body=load(schema, read_json()), **kwargs)

        with_body.takes = shape  # type: ignore[attr-defined] # read by the description of the API
        return with_body  # type: ignore[return-value] # the same view, with one argument filled in

    return wrap


def takes_query(shape: type[Shape]) -> Callable[[View], View]:
    """Read the query string by the shape and pass it to the view as `query`."""

    def wrap(view: View) -> View:
        schema = shape()

        @wraps(view)
        def with_query(*args: Any, **kwargs: Any) -> Any:
            return view(*args, query=load(schema, _query()), **kwargs)

        with_query.takes_query = shape  # type: ignore[attr-defined] # read by the description of the API
        return with_query  # type: ignore[return-value] # the same view, with one argument filled in

    return wrap


def refuse_unknown_query(view: Callable[..., Any]) -> None:
    """Refuse a query string where a read takes none, as fields that a shape does not name are refused.

    Raises:
        InvalidError: the view declares no shape of a query, and there is one.

    """
    if request.query_string and request.method in _READING and not hasattr(view, "takes_query"):
        load(_NO_QUERY, _query())


def _query() -> dict[str, str]:
    repeated = {name: ["Given more than once."] for name, values in request.args.lists() if len(values) > 1}
    if repeated:
        raise InvalidError(_sentence(repeated), errors=repeated)
    return request.args.to_dict()


def gives(shape: type[Shape]) -> Callable[[View], View]:
    """Declare the shape of the view's reply."""

    def mark(view: View) -> View:
        view.gives = shape  # type: ignore[attr-defined] # read by the description of the API
        return view

    return mark


def load(schema: Schema, data: Any) -> dict[str, Any]:
    """Return the data in the schema's shape.

    Raises:
        InvalidError: fields are missing, unknown or of the wrong type.

    """
    if not isinstance(data, dict):
        raise InvalidError("The body must be a JSON object.", errors={})
    try:
        loaded: dict[str, Any] = schema.load(data)
    except ValidationError as error:
        messages: dict[str, Any] = error.normalized_messages()  # type: ignore[no-untyped-call] # marshmallow's own
        raise InvalidError(_sentence(messages), errors=messages) from error
    return loaded


def read_json() -> Any:
    """Return the request's JSON.

    Raises:
        MediaTypeError: the body is declared to be something else.
        MalformedError: it is not JSON.

    """
    if not request.is_json:
        raise MediaTypeError("Send the body as application/json.")
    try:
        return json.loads(request.get_data().decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedError("The body is not valid JSON in UTF-8.") from error


def reply_json(shape: Schema, data: Any, *, validator: str | None = None) -> Response:
    """Return the data in the shape; with a validator, 304 where the caller's copy is current."""
    return with_validator(jsonify(shape.dump(data)), validator)


def with_validator(reply: Response, validator: str | None) -> Response:
    """Put the validator on a reply, and let it be 304 where the caller's copy is current."""
    if validator is not None:
        reply.set_etag(validator)
        if request.if_none_match:
            reply.make_conditional(request)
    return reply


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _sentence(messages: Mapping[str, Any]) -> str:
    parts = [f"{name}: {_first(message)}" for name, message in messages.items()]
    return "The request does not fit. " + " ".join(parts)


def _first(message: Any) -> str:
    while not isinstance(message, str):
        message = next(iter(message.values() if isinstance(message, dict) else message), "does not fit.")
    return message
