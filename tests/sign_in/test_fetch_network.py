"""Requests to providers on real sockets: no address of a network of one's own is connected to, whatever names say."""

import socket
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from listening import certificates, listening, replying

from tenancy.fetch import Fetcher

PUBLIC = "93.184.215.14"


class Names:
    """A resolver whose answers the test chooses, one after the other; the last one stays."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = list(answers)
        self.asked = 0

    def __call__(self, _host: str, _port: int) -> list[str]:
        self.asked += 1
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def test_what_may_be_visited_is_read_so_that_the_refusals_below_mean_something() -> None:
    with listening(replying(b'{"ok": true}')) as listener:
        assert Fetcher(allow_loopback=True).get_json(f"http://127.0.0.1:{listener.port}/x") == {"ok": True}
        assert listener.requests[0].startswith(b"GET /x HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1", "0x7f000001", "2130706433", "0", "localhost."]
)
def test_outside_the_demo_nothing_connects_to_this_machine(host: str) -> None:
    with listening(replying(b"{}")) as listener:
        for scheme in ("https", "http"):
            with pytest.raises((httpx2.HTTPError, httpx2.InvalidURL)):
                Fetcher(allow_loopback=False).get_json(f"{scheme}://{host}:{listener.port}/")
        assert listener.connections == 0


@pytest.mark.parametrize(
    "answer",
    [["127.0.0.1"], ["::1"], ["10.0.0.5"], ["169.254.169.254"], ["fd00::1"], [PUBLIC, "127.0.0.1"],
     ["127.0.0.1", PUBLIC], ["not an address"], []],
    ids=repr,
)  # fmt: skip
def test_a_name_with_any_address_that_is_not_public_is_not_connected_to(answer: list[str]) -> None:
    with listening(replying(b"{}")) as listener:
        fetcher = Fetcher(allow_loopback=False, resolve=Names(answer))
        with pytest.raises(httpx2.TransportError, match="no address, or one that is not public"):
            fetcher.get_json(f"https://idp.example:{listener.port}/")
        assert listener.connections == 0


def test_the_demo_visits_loopback_and_no_other_network_of_ones_own() -> None:
    for answer in (["10.0.0.5"], ["169.254.169.254"], ["127.0.0.1", "192.168.0.1"]):
        with pytest.raises(httpx2.TransportError, match="not public"):
            Fetcher(allow_loopback=True, resolve=Names(answer)).get_json("https://idp.example/")
    fetcher = Fetcher(allow_loopback=True)
    assert fetcher.may_visit("http://127.0.0.1:5000/x")
    assert not fetcher.may_visit("http://10.0.0.5/x")
    assert not fetcher.may_visit("http://idp.example/x")


def test_the_address_that_was_checked_is_the_one_connected_to(tmp_path: Path) -> None:
    """A name that has another address a moment later (rebinding) is resolved once for each connection."""
    server, trusted = certificates(tmp_path, "idp.example")
    names = Names(["127.0.0.1"], ["10.0.0.5"])
    with listening(replying(b'{"ok": true}'), server) as listener:
        fetcher = Fetcher(allow_loopback=True, resolve=names, trusted=trusted)
        assert fetcher.get_json(f"https://idp.example:{listener.port}/") == {"ok": True}
        assert (names.asked, listener.connections) == (1, 1)
        with pytest.raises(httpx2.TransportError, match="not public"):
            fetcher.get_json(f"https://idp.example:{listener.port}/")
        assert (names.asked, listener.connections) == (2, 1)
    assert f"Host: idp.example:{listener.port}\r\n".encode() in listener.requests[0]


def test_tls_checks_the_name_and_not_the_address(tmp_path: Path) -> None:
    server, trusted = certificates(tmp_path, "other.example")
    with listening(replying(b"{}"), server) as listener:
        fetcher = Fetcher(allow_loopback=True, resolve=Names(["127.0.0.1"]), trusted=trusted)
        with pytest.raises(httpx2.TransportError):
            fetcher.get_json(f"https://idp.example:{listener.port}/")
        assert listener.requests == []
        assert fetcher.get_json(f"https://other.example:{listener.port}/") == {}


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(replying(b'{"by": "proxy"}')) as proxy, listening(replying(b'{"by": "itself"}')) as listener:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        read = Fetcher(allow_loopback=True).get_json(f"http://127.0.0.1:{listener.port}/")
        assert (read, proxy.connections) == ({"by": "itself"}, 0)


def test_a_redirect_is_not_followed() -> None:
    with listening(replying(b"{}")) as inner:
        moved = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{inner.port}/\r\nContent-Length: 0\r\n\r\n".encode()
        with (
            listening(lambda stream: stream.sendall(moved)) as outer,
            pytest.raises(httpx2.HTTPStatusError),
        ):
            Fetcher(allow_loopback=True).get_json(f"http://127.0.0.1:{outer.port}/")
        assert inner.connections == 0


def _endless(first: bytes, part: bytes, wait: float = 0.0) -> Any:
    def answer(stream: socket.socket) -> None:
        stream.sendall(first)
        for _ in range(100_000):
            stream.sendall(part)
            time.sleep(wait)

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        replying(b'"' + b"x" * 1_000_000 + b'"'),
        _endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"3e8\r\n" + b"x" * 1_000 + b"\r\n"),
        _endless(b"HTTP/1.1 200 OK\r\n", b"X-Padding: " + b"x" * 1_000 + b"\r\n"),
        _endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
        replying(b"\x1f\x8b", "Content-Encoding: gzip"),
        replying(b"{}", "Content-Encoding: br"),
        lambda stream: stream.sendall(b"SSH-2.0-OpenSSH_9.9\r\n"),
        lambda _stream: None,
    ],
    ids=["body", "chunks", "headers", "interim answers", "gzip", "br", "another protocol", "nothing"],
)
def test_a_reply_past_a_limit_is_given_up(answer: Any) -> None:
    with listening(answer) as listener, pytest.raises(httpx2.HTTPError):
        Fetcher(allow_loopback=True).get_json(f"http://127.0.0.1:{listener.port}/")


def test_a_body_just_under_the_limit_is_read() -> None:
    body = b'{"x": "' + b"x" * 990_000 + b'"}'
    with listening(replying(body)) as listener:
        assert len(Fetcher(allow_loopback=True).get_json(f"http://127.0.0.1:{listener.port}/")["x"]) == 990_000


@pytest.mark.slow
@pytest.mark.parametrize("first", [b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-"])
def test_a_reply_that_trickles_is_given_up_after_15_seconds(first: bytes) -> None:
    """Each byte comes within the time of a step; body and headers count alike."""
    began = time.monotonic()
    with listening(_endless(first, b"x", 0.5)) as listener, pytest.raises(httpx2.HTTPError):
        Fetcher(allow_loopback=True).get_json(f"http://127.0.0.1:{listener.port}/")
    assert 10 < time.monotonic() - began < 20


@pytest.mark.parametrize(
    "address",
    ["", "idp.example", "//idp.example", "ftp://idp.example", "file:///etc/passwd", "javascript:alert(1)",
     "http://idp.example", "https://", "https://user@idp.example", "https://user:secret@idp.example/",
     "https://idp.example:99999/", "https://idp.example:0/", "https://[broken", "https://a b/", "https://idp.example\\@x/",
     "https://idp.example/\r\nx", "https://idp.example/\0", "https://\u00e9.example/", "HTTP://idp.example/"],
)  # fmt: skip
def test_an_address_of_another_kind_is_not_visited(address: str) -> None:
    fetcher = Fetcher(allow_loopback=False)
    assert not fetcher.may_visit(address)
    assert fetcher.may_visit("https://idp.example:8443/tenant?x=1")


def test_a_look_up_that_takes_long_is_not_waited_for() -> None:
    def slow(_host: str, _port: int) -> list[str]:
        time.sleep(8)
        return [PUBLIC]

    began = time.monotonic()
    with pytest.raises(httpx2.TransportError):
        Fetcher(allow_loopback=False, resolve=slow).get_json("https://idp.example/")
    assert time.monotonic() - began < 7
