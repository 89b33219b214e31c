"""The demo's identity provider as its tests see it: a running server and the requests one makes of it."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc.jwk import KeySet

from demo.people import find_person

WEB_REDIRECT = "http://127.0.0.1:8000/login/callback"
LOOPBACK_REDIRECT = "http://127.0.0.1:49152/callback"
SECRET = "a-secret-of-the-web-application"
VERIFIER = "v" * 64
SCOPE = "openid profile email"


@dataclass(frozen=True)
class Provider:
    base_url: str
    folder: Path
    http: httpx2.Client

    def keys(self, slug: str) -> KeySet:
        return KeySet.import_key_set(self.http.get(f"{self.base_url}/{slug}/jwks").json())

    def address(self, slug: str = "acme", **changes: str | None) -> httpx2.URL:
        """The address of an authorization request; a change of None leaves the parameter out."""
        parameters = {
            "response_type": "code",
            "client_id": "demo-console",
            "redirect_uri": LOOPBACK_REDIRECT,
            "scope": SCOPE,
            "state": "the-state",
            "nonce": "the-nonce",
            "code_challenge": create_s256_code_challenge(VERIFIER),
            "code_challenge_method": "S256",
            **changes,
        }
        kept = {name: value for name, value in parameters.items() if value is not None}
        return httpx2.URL(f"{self.base_url}/{slug}/authorize", params=kept)

    def code(self, person: str = "member", **changes: str | None) -> str:
        answer = self.http.post(self.address(find_person(person).org.slug, **changes), data={"person": person})
        return query_of(answer)["code"]

    def exchange(self, code: str, slug: str = "acme", **changes: str) -> httpx2.Response:
        data = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": "demo-console",
            "redirect_uri": LOOPBACK_REDIRECT,
            "code_verifier": VERIFIER,
            **changes,
        }
        return self.http.post(f"{self.base_url}/{slug}/token", data=data)

    def web_client(self, secret: str = SECRET) -> OAuth2Client:
        return OAuth2Client(
            "keepline-web",
            secret,
            scope=SCOPE,
            redirect_uri=WEB_REDIRECT,
            code_challenge_method="S256",
            token_endpoint=f"{self.base_url}/acme/token",
        )

    def web_sign_in(self, client: OAuth2Client, person: str = "lead") -> str:
        """Sign a person in at the web application; returns the address the browser is sent back to."""
        address, _ = client.create_authorization_url(
            f"{self.base_url}/acme/authorize", state="web-state", code_verifier=VERIFIER, nonce="web-nonce"
        )
        answer = self.http.post(address, data={"person": person})
        assert answer.status_code == 302
        return answer.headers["Location"]


def query_of(response: httpx2.Response) -> dict[str, str]:
    assert response.status_code == 302, response.text
    return {name: values[0] for name, values in parse_qs(urlsplit(response.headers["Location"]).query).items()}


def header_of(token: str) -> dict[str, str]:
    first = token.split(".")[0]
    return json.loads(base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)))
