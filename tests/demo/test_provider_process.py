"""The demo's identity provider as a process, and the tokens that programs fetch from it."""

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from running_provider import SECRET, WEB_REDIRECT, Provider

from demo.people import PEOPLE, Person, UnknownPersonError, find_person
from demo.provider import create_provider
from demo.tokens import TokenRefusedError, fetch_token


def test_keys_survive_a_new_start_and_are_private(provider: Provider) -> None:
    token = fetch_token(provider.base_url, "member", "demo-console")
    again = create_provider(provider.base_url, provider.folder, (WEB_REDIRECT,), SECRET)
    keys = again.test_client().get("/acme/jwks", base_url=provider.base_url).get_json()
    assert jwt.decode(token, KeySet.import_key_set(keys)).claims["sub"] == find_person("member").subject
    files = sorted(provider.folder.iterdir())
    assert [file.name for file in files] == ["acme.json", "birch.json"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@pytest.mark.parametrize("person", PEOPLE, ids=lambda person: person.login_name)
@pytest.mark.parametrize("client_id", ["demo-assistant", "demo-console"])
def test_a_token_can_be_fetched_for_everybody(provider: Provider, person: Person, client_id: str) -> None:
    token = fetch_token(provider.base_url, person.login_name, client_id)
    claims = jwt.decode(token, provider.keys(person.org.slug)).claims
    assert (claims["sub"], claims["client_id"]) == (person.subject, client_id)
    assert person.login_name not in claims["sub"]
    assert tuple(claims["roles"]) == person.claimed_roles


def test_an_unknown_person_is_answered_with_the_names(provider: Provider) -> None:
    with pytest.raises(UnknownPersonError, match=r"no person named 'nobody'.*member, .*stranger-admin\.$"):
        fetch_token(provider.base_url, "nobody", "demo-console")


def test_a_refusal_and_a_silence_are_told_in_a_sentence(provider: Provider) -> None:
    with pytest.raises(TokenRefusedError, match=r"GET /acme/authorize answered 400"):
        fetch_token(provider.base_url, "member", "keepline-web")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(TokenRefusedError, match="does not answer"):
            fetch_token(f"http://127.0.0.1:{unused.getsockname()[1]}", "member", "demo-console")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_process_serves_and_stops_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = (
        "import sys; from pathlib import Path; from demo.provider import serve_provider; "
        f"serve_provider({port}, Path(sys.argv[1]), 'http://127.0.0.1:8000/', 'secret'); print('stopped')"
    )
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        base_url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 30
        while True:
            try:
                httpx2.get(f"{base_url}/acme/jwks")
                break
            except httpx2.ConnectError:
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert fetch_token(base_url, "stranger", "demo-console")
        process.send_signal(number)
        output, errors = process.communicate(timeout=10)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, output, errors) == (0, "stopped\n", "")
