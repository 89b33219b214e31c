"""Requests to identity providers: to public addresses alone, through no proxy, and no reply is long, slow or moved.

An admin chooses where Keepline sends these requests, so they must not reach what only this machine can reach: a host
is resolved here, every address it has must be public, and the connection goes to the address that was checked.
"""

import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from threading import Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import httpx2

from tenancy.addresses import is_loopback, is_public

_STEP_SECONDS = 5.0
_REPLY_SECONDS = 15.0
_REPLY_BYTES = 1_000_000
_ADDRESSES_TRIED = 3
_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
_FAULTS = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
)

Resolver = Callable[[str, int], Sequence[str]]
"""Returns the addresses of a host, as text; raises OSError when there are none."""


class Fetcher:
    """Makes requests that an admin's choice of address can't turn against the network that Keepline runs in.

    Limits: https alone; 5 s for each step; 15 s and 1 MB for a whole exchange, headers included; no redirects, no
    compression, no proxy. The demo (`allow_loopback`) may also visit loopback, by http too. A request past a limit
    raises httpx2.HTTPError, as one does that is not answered.
    """

    def __init__(
        self, *, allow_loopback: bool, resolve: Resolver | None = None, trusted: ssl.SSLContext | None = None
    ) -> None:
        self._allow_loopback = allow_loopback
        self._resolve = resolve or _resolve
        self._given = trusted

    def may_visit(self, address: str) -> bool:
        """Return whether an address is of a kind that is visited; the host's own addresses are checked on the way."""
        try:
            url, parts = httpx2.URL(address), urlsplit(address)
            # What two parsers read differently is left alone, as is a port that is none.
            plain = address.isascii() and address.isprintable() and not set(address) & set(" \\")
            return plain and parts.port != 0 and parts.hostname == url.host and self._is_visited(url)
        except (httpx2.InvalidURL, ValueError):
            return False

    def client_options(self) -> dict[str, Any]:
        """Return what an httpx2 client is made with, so that each of its requests keeps to the limits."""
        return {
            "timeout": _STEP_SECONDS,
            "follow_redirects": False,
            "trust_env": False,
            "headers": {"Accept-Encoding": "identity"},
            "transport": _Transport(self._is_visited, _Network(self._resolve, self._allows), self._trusted),
        }

    def get_json(self, address: str) -> dict[str, Any]:
        """Return the JSON object that an address answers.

        Raises:
            httpx2.HTTPError: there is no answer, or one that is no success.
            ValueError: the answer is no JSON object.

        """
        with httpx2.Client(**self.client_options()) as client:
            reply = client.get(address).raise_for_status()
        try:
            document = reply.json()
        except RecursionError as error:
            raise ValueError("The answer is nested too deeply.") from error
        if not isinstance(document, dict):
            raise ValueError("The answer is not a JSON object.")
        return document

    def _is_visited(self, url: httpx2.URL) -> bool:
        if not url.host or url.userinfo:
            return False
        return url.scheme == "https" or (self._allow_loopback and url.scheme == "http" and url.host in _LOOPBACK_HOSTS)

    def _allows(self, address: str) -> bool:
        return is_public(address) or (self._allow_loopback and is_loopback(address))

    @cached_property
    def _trusted(self) -> ssl.SSLContext:
        return self._given or httpx2.create_ssl_context()


class _Network(httpcore2.NetworkBackend):
    """Connects to addresses that were checked, so that a second resolution can't lead elsewhere."""

    def __init__(self, resolve: Resolver, allows: Callable[[str], bool]) -> None:
        self._resolve = resolve
        self._allows = allows
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - each address gets its share of a step
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        deadline = monotonic() + _REPLY_SECONDS
        addresses = _in_time(lambda: self._resolve(host, port), _STEP_SECONDS)
        # One address that is not public condemns the host: which of several is connected to is not left to chance.
        if not addresses or not all(self._allows(address) for address in addresses):
            raise httpcore2.ConnectError("The host has no address, or one that is not public.")
        tried = addresses[:_ADDRESSES_TRIED]
        for address in tried:
            with suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                step = _STEP_SECONDS / len(tried)
                stream = self._sockets.connect_tcp(address, port, step, local_address, socket_options)
                return _BoundedStream(stream, deadline)
        raise httpcore2.ConnectError("No address of the host answers.")


class _BoundedStream(httpcore2.NetworkStream):
    """A connection for one exchange, which ends at a deadline and after a number of bytes."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline
        self._bytes_left = _REPLY_BYTES

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        received = self._stream.read(max_bytes, self._time_left(timeout))
        self._bytes_left -= len(received)
        if self._bytes_left < 0:
            raise httpcore2.ReadError("The reply is too long.")
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._time_left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._time_left(timeout))
        return _BoundedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _time_left(self, timeout: float | None) -> float:
        left = self._deadline - monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("The exchange takes too long.")
        return left if timeout is None else min(left, timeout)


class _Transport(httpx2.BaseTransport):
    """Carries a client's requests over the checked network, one connection each."""

    def __init__(
        self, is_visited: Callable[[httpx2.URL], bool], network: httpcore2.NetworkBackend, trusted: ssl.SSLContext
    ) -> None:
        self._is_visited = is_visited
        self._pool = httpcore2.ConnectionPool(ssl_context=trusted, max_keepalive_connections=0, network_backend=network)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if not self._is_visited(request.url) or not isinstance(request.stream, httpx2.SyncByteStream):
            raise httpx2.UnsupportedProtocol("Addresses of this kind are not visited.")
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        with _as_httpx2():
            reply = self._pool.handle_request(
                httpcore2.Request(
                    request.method,
                    url,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        response = httpx2.Response(reply.status, headers=reply.headers, stream=_ReplyStream(reply))
        if response.headers.get("Content-Encoding", "identity") != "identity":
            response.close()
            raise httpx2.DecodingError("The reply is compressed although that was not asked for.")
        return response

    def close(self) -> None:
        self._pool.close()


class _ReplyStream(httpx2.SyncByteStream):
    def __init__(self, reply: httpcore2.Response) -> None:
        self._reply = reply

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx2():
            yield from self._reply.iter_stream()

    def close(self) -> None:
        self._reply.close()


@contextmanager
def _as_httpx2() -> Iterator[None]:
    try:
        yield
    except _FAULTS as error:
        raise httpx2.TransportError(str(error)) from error


def _resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _in_time(resolve: Callable[[], Sequence[str]], seconds: float) -> Sequence[str]:
    """Return what a look-up finds, or nothing when it fails or is not done in time: it can't be told to hurry."""
    found: list[Sequence[str]] = []

    def look_up() -> None:
        try:
            found.append(resolve())
        except (OSError, UnicodeError):
            return

    thread = Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else ()
