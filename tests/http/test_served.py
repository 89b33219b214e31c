"""What holds of the web as it is served: limits across its processes, and requests that are not quite HTTP."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import httpx2
import psutil
import pytest

from tenancy.settings import PROJECT_FOLDER
from tests.cast import Cast, csrf_token_of
from tests.world import WEB_PORT, World


def _free_port() -> int:
    """A port of its own: the browser tests serve the world's app on the world's port until the run ends."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


PORT = _free_port()
ADDRESS = f"http://127.0.0.1:{PORT}"
SIGN_IN = f"{ADDRESS}/login/start?org=nobody"
NO_SUCH_ORG, TOO_MANY = 422, 429


@contextmanager
def served(world: World, **environment: str) -> Iterator[psutil.Process]:
    """The web's own processes on this world's database."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KEEPLINE_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "commands.main", "serve"],
        cwd=PROJECT_FOLDER,
        env={
            **kept,
            "KEEPLINE_DATA_DIR": str(world.settings.data_folder),
            "KEEPLINE_PORT": str(PORT),
            "KEEPLINE_DEMO": "1",
            **environment,
        },
    )
    try:
        until(lambda: status_of("/healthz") == 200)
        yield psutil.Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def status_of(path: str) -> int | None:
    try:
        return httpx2.get(f"{ADDRESS}{path}", trust_env=False, timeout=10).status_code
    except httpx2.TransportError:
        return None


def until(holds: object) -> None:
    deadline = time.monotonic() + 30
    while not holds():  # type: ignore[operator] # a function without arguments
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_all_processes_count_together_and_a_killed_one_takes_no_count_with_it(world: World) -> None:
    with served(world, KEEPLINE_RATE_LIMIT_ADDRESS="40", KEEPLINE_WEB_WORKERS="3") as master:
        statuses = [status_of("/login/start?org=nobody") for _ in range(25)]
        workers = {worker.pid for worker in master.children()}
        assert len(workers) == 3
        for worker in master.children()[:2]:
            worker.kill()
        until(lambda: len({worker.pid for worker in master.children()} - workers) == 2)
        statuses += [status_of("/login/start?org=nobody") for _ in range(40)]
        assert statuses == [NO_SUCH_ORG] * 40 + [TOO_MANY] * 25
        assert status_of("/healthz") == 200


def exchange(request: bytes) -> bytes:
    """Send bytes as they are, end sending, and return all that is answered."""
    with socket.create_connection(("127.0.0.1", PORT), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while received := connection.recv(65_536):
                answer += received
        except ConnectionResetError:  # closed with some of the request unread
            pass
        return answer


def statuses_in(answer: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)]


SMUGGLED = b"GET /v1/memory/block HTTP/1.1\r\nHost: x\r\n\r\n"
ODD = {
    "both lengths": b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths that differ": b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n",
    "a length with a sign": b"Content-Length: +4\r\n\r\nabcd",
    "a length that is negative": b"Content-Length: -1\r\n\r\n",
    "a length with an underscore": b"Content-Length: 1_0\r\n\r\n0123456789",
    "a length of other digits": "Content-Length: ٤\r\n\r\nabcd".encode(),
    "an unknown coding": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked twice": b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "chunked that is not last": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a space before the colon": b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a folded header": b"X-Odd: a\r\n  folded\r\n\r\n",
    "a header without a name": b": x\r\n\r\n",
    "a line break in a header": b"X-Odd: a\rSet-Cookie: b\r\n\r\n",
    "a zero byte in a header": b"X-Odd: a\0b\r\n\r\n",
}


def test_requests_that_two_readers_could_read_differently_are_refused(world: World, cast: Cast) -> None:
    """Each is refused as a whole, and what follows it on the connection is not taken for a request of its own."""
    cast.owner.assistant.write("stays")
    authorization = f"Authorization: Bearer {cast.owner.assistant.token}".encode()
    start = b"PUT /v1/memory/block HTTP/1.1\r\nHost: 127.0.0.1\r\n" + authorization + b"\r\n"
    with served(world):
        good = exchange(start + b"Content-Type: application/json\r\nContent-Length: 14\r\n\r\n" + b'{"text": "ok"}')
        assert statuses_in(good) == [200]
        for what, rest in ODD.items():
            answered = statuses_in(exchange(start + rest + SMUGGLED))
            assert len(answered) <= 1, what
            assert all(400 <= status < 500 or status == 501 for status in answered), (what, answered)
        for line in (
            b"GET /healthz", b"GET /healthz HTTP/3.0\r\n\r\n", b"GET  /healthz HTTP/1.1\r\n\r\n", b"\0\r\n\r\n",
            b"GET http://[ HTTP/1.1\r\n\r\n", b"G\x00T / HTTP/1.1\r\n\r\n",
            b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n",
            b"GET / HTTP/1.1\r\nX: " + b"y" * 20_000 + b"\r\n\r\n",
        ):  # fmt: skip
            assert all(400 <= status < 506 and status != 500 for status in statuses_in(exchange(line))), line
        assert status_of("/healthz") == 200
    assert world.rows("SELECT text FROM app.blocks") == [("ok",)]


BROKEN_OFF = {
    "JSON that would do by itself": b"Content-Length: 5000\r\n\r\n" + b'{"text": "cut"}',
    "JSON in the middle": b"Content-Length: 5000\r\n\r\n" + b'{"text": "cu',
    "nothing of it": b"Content-Length: 5000\r\n\r\n",
    "a chunk and no last one": b"Transfer-Encoding: chunked\r\n\r\nf\r\n" + b'{"text": "cut"}' + b"\r\n",
    "a chunk that is none": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + b'{"text": "cut"}' + b"\r\n0\r\n\r\n",
}


def test_a_body_that_breaks_off_is_never_taken_for_whole(world: World, cast: Cast) -> None:
    """By call and by form: a client that went away while it sent a text stores nothing of it."""
    cast.owner.assistant.write("stays\n- whole")
    authorization = f"Authorization: Bearer {cast.owner.assistant.token}".encode()
    call = b"PUT /v1/memory/block HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + authorization + b"\r\n"
    browser = cast.owner.browser()
    page = browser.get("/settings/memory").text
    cookie = browser.get_cookie(f"keepline_{WEB_PORT}", "127.0.0.1")
    assert cookie is not None
    fields = {"csrf_token": csrf_token_of(page), "seen": page.split('name="seen" value="', 1)[1].split('"', 1)[0]}
    form = urlencode({**fields, "text": "stays"}).encode()
    with served(world):
        for what, rest in BROKEN_OFF.items():
            assert statuses_in(exchange(call + rest)) in ([400], []), what
        sent = (
            b"POST /settings/memory HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            b"Cookie: " + f"keepline_{PORT}={cookie.value}".encode() + b"\r\n"
        )
        cut = exchange(sent + f"Content-Length: {len(form) + 8}\r\n\r\n".encode() + form)
        assert statuses_in(cut) in ([400], [])
        assert world.rows("SELECT text FROM app.blocks") == [("stays\n- whole",)]
        whole = exchange(sent + f"Content-Length: {len(form)}\r\n\r\n".encode() + form)
        assert statuses_in(whole) == [303]
    assert world.rows("SELECT text FROM app.blocks") == [("stays",)]


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "in chunks"])
def test_a_body_of_10_mb_is_refused_with_problem_details(chunked: bool, world: World, cast: Cast) -> None:
    headers = {"Authorization": f"Bearer {cast.owner.assistant.token}", "Content-Type": "application/json"}
    body = b'{"text": "' + b"x" * 10_000_000 + b'"}'
    with served(world):
        content = (body[start : start + 65_536] for start in range(0, len(body), 65_536)) if chunked else body
        reply = httpx2.put(f"{ADDRESS}/v1/memory/block", content=content, headers=headers, trust_env=False, timeout=30)
        assert (reply.status_code, reply.json()["code"]) == (413, "too_large")
        assert reply.headers["Content-Type"] == "application/problem+json"
        assert "10 MB" not in reply.json()["detail"]
        assert httpx2.get(f"{ADDRESS}/v1/memory/block", headers=headers, trust_env=False).json()["exists"] is False
