"""A relay between psycopg and the server that counts round trips and can cut the line at a chosen point."""

import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DISTANCE_SECONDS = 0.003  # how long an answer is under way, so that what is sent without waiting for it shows


class WireProxy:
    """Relays one socket to another, reading the client's messages as the protocol frames them."""

    def __init__(self, folder: Path, server_socket: Path) -> None:
        self.folder = folder
        self.round_trips = 0
        self._answered = True
        self.cut_after_commit = False
        self.answer_bytes_left: int | None = None
        self._server_socket = server_socket
        self._lines: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / server_socket.name))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def hang_up(self) -> None:
        """Close every line in both directions, as a network that is gone does."""
        while self._lines:
            line = self._lines.pop()
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._server_socket))
                self._lines += [client, server]
                threading.Thread(target=self._relay_answers, args=(client, server), daemon=True).start()
                threading.Thread(target=self._relay_messages, args=(client, server), daemon=True).start()

    def _relay_messages(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError, EOFError), client, server:
            server.sendall(_startup_message(client))
            while True:
                message = _message(client)
                if self._answered:  # what is sent before an answer came belongs to the same round trip
                    self._answered = False
                    self.round_trips += 1
                if self.cut_after_commit and b"COMMIT" in message:
                    self.cut_after_commit = False
                    client.shutdown(socket.SHUT_RDWR)  # the client hears nothing more; the server commits
                    server.sendall(message)
                    server.sendall(b"S\0\0\0\4")
                    return
                server.sendall(message)

    def _relay_answers(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65_536):
                if self.answer_bytes_left is not None:
                    data = data[: self.answer_bytes_left]
                    self.answer_bytes_left -= len(data)
                time.sleep(_DISTANCE_SECONDS)
                self._answered = True
                client.sendall(data)
                if self.answer_bytes_left == 0:
                    break
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def wire_proxy(server_socket: Path) -> Iterator[WireProxy]:
    """Listen in a short folder of its own, under the same socket name."""
    with tempfile.TemporaryDirectory(prefix="wire-") as folder:
        proxy = WireProxy(Path(folder), server_socket)
        yield proxy
        proxy.close()


def _startup_message(client: socket.socket) -> bytes:
    length = _exactly(client, 4)
    return length + _exactly(client, int.from_bytes(length, "big") - 4)


def _message(client: socket.socket) -> bytes:
    kind, length = _exactly(client, 1), _exactly(client, 4)
    return kind + length + _exactly(client, int.from_bytes(length, "big") - 4)


def _exactly(client: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        received = client.recv(size - len(data))
        if not received:
            raise EOFError
        data += received
    return data
