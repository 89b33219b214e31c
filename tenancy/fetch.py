"""Requests to identity providers: no redirect is followed, and a reply may be neither long nor slow."""

from collections.abc import Iterator
from time import monotonic
from typing import Any

import httpx2

_STEP_SECONDS = 5.0
_REPLY_SECONDS = 15.0
_REPLY_BYTES = 1_000_000


def bounded_client_options() -> dict[str, Any]:
    """Return what a client is made with: 5 s for each step, 15 s and 1 MB for a whole reply.

    A reply past a limit, or compressed although that was not asked for, raises httpx2.HTTPError when it is read.
    """
    return {
        "timeout": _STEP_SECONDS,
        "follow_redirects": False,
        "headers": {"Accept-Encoding": "identity"},
        "event_hooks": {"response": [_bound]},
    }


def _bound(reply: httpx2.Response) -> None:
    if reply.headers.get("Content-Encoding", "identity") != "identity":
        raise httpx2.DecodingError("The reply is compressed.", request=reply.request)
    if isinstance(reply.stream, httpx2.SyncByteStream):
        reply.stream = _BoundedStream(reply.stream)


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        received, deadline = 0, monotonic() + _REPLY_SECONDS
        for part in self._stream:
            received += len(part)
            if received > _REPLY_BYTES:
                raise httpx2.ReadError("The reply is too long.")
            if monotonic() > deadline:
                raise httpx2.ReadTimeout("The reply takes too long.")
            yield part

    def close(self) -> None:
        self._stream.close()
