"""Bodies of requests: read whole or refused, however a client says how long its body is, and wherever it breaks off."""

from typing import IO, Any, cast

from flask import Request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge
from werkzeug.utils import cached_property
from werkzeug.wsgi import LimitedStream, get_content_length, get_input_stream


class WholeBody(LimitedStream):
    """A body that is exactly `limit` bytes long, or with `is_max` at most.

    gunicorn ends a body where the client breaks off, and werkzeug believes a server that says it ends bodies: half a
    text would be taken for all of it. One that is sent in chunks werkzeug ends at the limit, as if it ended there.
    """

    def __init__(self, source: IO[bytes], limit: int, *, is_max: bool) -> None:
        super().__init__(source, limit, is_max=is_max)
        self._source = source
        self._is_max = is_max

    def readinto(self, buffer: Any) -> int | None:
        """Read into a buffer.

        Raises:
            ClientDisconnected: the client broke off, or sent a chunk that is none.

        """
        try:
            return super().readinto(buffer)
        except (OSError, ParseException) as error:
            raise ClientDisconnected from error

    def readall(self) -> bytes:
        """Return the body.

        Raises:
            ClientDisconnected: the client broke off, or sent a chunk that is none.
            RequestEntityTooLarge: there is more of it.

        """
        try:
            body = super().readall()
            if self._is_max and self.is_exhausted and self._source.read(1):
                raise RequestEntityTooLarge
        except (OSError, ParseException) as error:
            raise ClientDisconnected from error
        return body


class BoundedRequest(Request):
    """A request whose body is never read cut off."""

    @cached_property
    def stream(self) -> IO[bytes]:
        """Return the body's stream.

        Raises:
            RequestEntityTooLarge: the client says that the body is larger than a body may be.

        """
        limit = self.max_content_length
        length = get_content_length(self.environ) if self.environ.get("CONTENT_LENGTH") else None
        checked = get_input_stream(self.environ, max_content_length=limit)
        if "wsgi.input_terminated" not in self.environ:
            return checked
        source = self.environ["wsgi.input"]
        if length is not None:
            return cast(IO[bytes], WholeBody(source, length, is_max=False))
        return checked if limit is None else cast(IO[bytes], WholeBody(source, limit, is_max=True))
