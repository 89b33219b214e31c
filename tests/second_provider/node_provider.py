"""oidc-provider, a certified OpenID provider, as a process of its own: installed, started and walked through."""

import base64
import hashlib
import json
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx2
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tenancy.guards import GuardedFlask

HERE = Path(__file__).parent
AUDIENCE = "urn:keepline:api"
WEB_CLIENT, ASSISTANT = "keepline-web", "second-assistant"
# With what must be encoded on its way (RFC 6749 section 2.3.1), as a provider's own generator may choose it.
SECRET = "s%cr+t: 4~you/&="
PEOPLE: dict[str, dict[str, Any]] = {
    "noor": {
        "name": "Noor Haddad",
        "email": "noor@second.example",
        "groups": ["keepline-users", "g-operations"],
        "teams": ["Operations"],
        "roles": ["lead:Operations"],
    },
    "teo": {"name": "Teo Lind", "email": "teo@second.example", "groups": [], "teams": [], "roles": []},
}
_LOOPBACK_CALLBACK = "http://127.0.0.1/callback"


class NotInstalledError(Exception):
    """Node.js or the provider's packages are not there."""


@dataclass
class NodeProvider:
    """One running issuer."""

    issuer: str
    org: str

    def begin(self, browser: FlaskClient) -> str:
        """Begin a sign-in at Keepline and return where it sends the browser."""
        begun = browser.get("/login/start", query_string={"org": self.org})
        assert begun.status_code == 302, begun.text
        return begun.headers["Location"]

    def answer(self, address: str, person: str, at_provider: httpx2.Client | None = None) -> dict[str, str]:
        """Walk through the provider's own redirects as a browser does, and return the parameters of its answer."""
        with httpx2.Client(trust_env=False) as own:
            client = at_provider or own
            reply = client.get(address)
            for _ in range(10):
                assert reply.status_code in (302, 303), reply.text
                target = urljoin(str(reply.url), reply.headers["Location"])
                if not target.startswith(self.issuer):
                    return {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
                if "/interaction/" in target:
                    reply = client.post(target, data={"person": person})
                else:
                    reply = client.get(target)
        raise AssertionError(f"{self.issuer} sends the browser in circles.")

    def sign_in(
        self, app: GuardedFlask, person: str = "noor", at_provider: httpx2.Client | None = None
    ) -> tuple[FlaskClient, TestResponse]:
        """Sign a person in to Keepline in a new browser; the provider's own session is in the client given."""
        browser = app.test_client()
        answer = self.answer(self.begin(browser), person, at_provider)
        return browser, browser.get("/login/callback", query_string=answer)

    def access_token(self, person: str = "noor") -> str:
        """Return an access token of the assistant for a person, by a code flow of the assistant's own."""
        verifier = secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "client_id": ASSISTANT,
            "response_type": "code",
            "scope": "openid",
            "redirect_uri": _LOOPBACK_CALLBACK,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        answer = self.answer(f"{self.issuer}/auth?{urlencode(asked)}", person)
        with httpx2.Client(trust_env=False) as client:
            reply = client.post(
                f"{self.issuer}/token",
                data={
                    "client_id": ASSISTANT,
                    "grant_type": "authorization_code",
                    "code": answer["code"],
                    "redirect_uri": _LOOPBACK_CALLBACK,
                    "code_verifier": verifier,
                },
            )
        return str(reply.raise_for_status().json()["access_token"])

    def sign_out(self, at_provider: httpx2.Client) -> None:
        """End the provider's session in its own page; it then tells Keepline."""
        page = at_provider.get(f"{self.issuer}/session/end").text
        form = {"xsrf": page.split('name="xsrf" value="', 1)[1].split('"', 1)[0], "logout": "yes"}
        reply = at_provider.post(f"{self.issuer}/session/end/confirm", data=form)
        assert reply.status_code in (302, 303), reply.text

    def make_new_keys(self, *, keep_old: bool) -> None:
        """Sign with a new key from now on; the old one stays published or goes."""
        with httpx2.Client(trust_env=False) as client:
            client.post(f"{self.issuer}/new-keys", data={"keep": "1"} if keep_old else {}).raise_for_status()


def install() -> None:
    """Install the pinned packages unless they are there.

    Raises:
        NotInstalledError: Node.js or npm is missing, or the packages can't be fetched.

    """
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise NotInstalledError("node and npm are not installed")
    installed = HERE / "node_modules" / ".package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= (HERE / "package-lock.json").stat().st_mtime:
        return
    done = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=HERE, capture_output=True, text=True
    )
    if done.returncode:
        raise NotInstalledError(f"npm ci failed: {done.stderr[-300:]}")


@contextmanager
def running_node_provider(org: str, algorithm: str, callback: str, logout: str) -> Iterator[NodeProvider]:
    """Start an issuer that signs with an algorithm, and stop it at the end."""
    clients = [
        {
            "client_id": WEB_CLIENT,
            "client_secret": SECRET,
            "redirect_uris": [callback],
            "backchannel_logout_uri": logout,
            "backchannel_logout_session_required": True,
        },
        {
            "client_id": ASSISTANT,
            "token_endpoint_auth_method": "none",
            "application_type": "native",
            "redirect_uris": [_LOOPBACK_CALLBACK],
        },
    ]
    settings = {
        "algorithm": algorithm, "audience": AUDIENCE, "clients": clients, "people": PEOPLE, "scope": "memory",
    }  # fmt: skip
    command = ["node", str(HERE / "provider.js"), json.dumps(settings)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            issuer = process.stdout.readline().strip()
            assert issuer, process.stderr.read() if process.stderr else ""
            yield NodeProvider(issuer, org)
        finally:
            process.terminate()
            process.communicate(timeout=10)
