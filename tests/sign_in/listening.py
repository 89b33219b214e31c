"""Servers that tests listen with: plain sockets that say what reached them, by http or TLS."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Listener:
    """What a listening server was told: requests as they came, and how many connections there were."""

    port: int
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)


@contextmanager
def listening(answer: Callable[[socket.socket], None], tls: ssl.SSLContext | None = None) -> Iterator[Listener]:
    """Answer each connection on a port of loopback with bytes of the test's own."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        listener = Listener(server.getsockname()[1])
        thread = threading.Thread(target=_serve, args=(server, listener, answer, tls), daemon=True)
        thread.start()
        yield listener
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def _serve(
    server: socket.socket, listener: Listener, answer: Callable[[socket.socket], None], tls: ssl.SSLContext | None
) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        listener.connections += 1
        try:
            with tls.wrap_socket(connection, server_side=True) if tls else connection as stream:
                stream.settimeout(10)
                listener.requests.append(stream.recv(65_536))
                answer(stream)
        except OSError:
            continue


def replying(body: bytes, *headers: str) -> Callable[[socket.socket], None]:
    """Answer 200 with a body and more headers."""
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", "Connection: close", *headers]

    def answer(stream: socket.socket) -> None:
        stream.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    return answer


def certificates(folder: Path, host: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the server's side and the visitor's side of TLS for a host, with an authority of the test's own."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(pem + secret)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "server.pem")
    return server, ssl.create_default_context(cadata=pem.decode())
