"""Bodies of requests: read whole or refused, also where a client does not say how long its body is."""

from typing import IO, cast

from flask import Request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.utils import cached_property
from werkzeug.wsgi import LimitedStream, get_input_stream


class WholeBody(LimitedStream):
    """A body of at most `limit` bytes.

    Werkzeug's own stream ends at the limit as if the body ended there, so that a body sent in chunks would be read
    cut off and taken for all of it.
    """

    def __init__(self, source: IO[bytes], limit: int) -> None:
        super().__init__(source, limit, is_max=True)
        self._source = source

    def readall(self) -> bytes:
        """Return the body.

        Raises:
            RequestEntityTooLarge: there is more of it.

        """
        body = super().readall()
        if self.is_exhausted and self._source.read(1):
            raise RequestEntityTooLarge
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
        stream = get_input_stream(self.environ, max_content_length=limit)
        if limit is None or "wsgi.input_terminated" not in self.environ:
            return stream
        return cast(IO[bytes], WholeBody(self.environ["wsgi.input"], limit))
