"""The people that every test uses, so that a name says what they may see.

`owner` owns what a test is about; `teammate` is in the owner's team; `outsider` is in the same org and another team;
`lead` leads the owner's team; `reviewer` and `admin` hold those roles in the owner's org; `stranger` is in another
org, in a team of the same name.
"""

import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx2
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from demo.seed import ASSISTANT_CLIENT, USER_CLIENT
from demo.tokens import fetch_token
from tenancy.identity import Identity
from tests.world import World

_TOKEN_SECONDS = 600

LOGIN_NAMES = {
    "owner": "member",
    "teammate": "colleague",
    "outsider": "outsider",
    "lead": "lead",
    "reviewer": "reviewer",
    "admin": "admin",
    "stranger": "stranger",
}


@dataclass
class Calls:
    """A program's calls of the API with one access token."""

    client: FlaskClient
    token: str

    def get(self, path: str, **options: Any) -> TestResponse:
        return self._open("GET", path, options)

    def put(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self._open("PUT", path, {"json": body, **options})

    def post(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self._open("POST", path, {"json": body, **options})

    def patch(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self._open("PATCH", path, {"json": body, **options})

    def delete(self, path: str, **options: Any) -> TestResponse:
        return self._open("DELETE", path, options)

    def write(self, text: str, **fields: Any) -> TestResponse:
        """Rewrite the block."""
        return self.put("/v1/memory/block", {"text": text, **fields})

    def _open(self, method: str, path: str, options: dict[str, Any]) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return self.client.open(path, method=method, headers=headers, **options)


@dataclass
class Person:
    """One of the cast."""

    world: World
    login_name: str
    _tokens: dict[str, tuple[float, str]] = field(default_factory=dict)

    def token(self, client_id: str) -> str:
        """An access token through the identity provider, young enough for what a role allows."""
        fetched_at, token = self._tokens.get(client_id, (0.0, ""))
        if not token or fetched_at < time.monotonic() - _TOKEN_SECONDS:
            token = fetch_token(self.world.demo.provider_url, self.login_name, client_id)
            self._tokens[client_id] = (time.monotonic(), token)
        return token

    def forget_tokens(self) -> None:
        """Fetch new tokens from now on, as a program does that was answered 401."""
        self._tokens.clear()

    @property
    def assistant(self) -> Calls:
        """The org's assistant acting for this person: what it writes is the model's."""
        return Calls(self.world.app.test_client(), self.token(ASSISTANT_CLIENT))

    @property
    def program(self) -> Calls:
        """A program of the person's own: what it writes is the user's."""
        return Calls(self.world.app.test_client(), self.token(USER_CLIENT))

    @property
    def identity(self) -> Identity:
        """The identity that the app binds for this person."""
        with self.world.app.app_context():
            return self.world.services.bearer_tokens.authenticate(self.token(USER_CLIENT), "test").identity

    @property
    def user_id(self) -> UUID:
        return self.identity.user_id

    def browser(self, return_to: str = "/settings/memory") -> FlaskClient:
        """A browser of this person that has signed in through the identity provider."""
        client = self.world.app.test_client()
        org = "birch" if self.login_name.startswith("stranger") else "acme"
        callback = self.answer_of_provider(client, org, return_to)
        assert client.get(callback).status_code == 302
        return client

    def answer_of_provider(self, client: FlaskClient, org: str, return_to: str = "/settings/memory") -> str:
        """Begin a sign-in in a browser, go through the provider's page, and return the callback it sends back to."""
        begun = client.get("/login/start", query_string={"org": org, "next": return_to})
        assert begun.status_code == 302, begun.text
        with httpx2.Client(trust_env=False) as http:
            answered = http.post(begun.headers["Location"], data={"person": self.login_name})
        assert answered.status_code == 302, answered.text
        target = urlsplit(answered.headers["Location"])
        return f"{target.path}?{target.query}"


class Cast:
    """Everybody, by what they are to the owner."""

    def __init__(self, world: World) -> None:
        self._people = {name: Person(world, login_name) for name, login_name in LOGIN_NAMES.items()}

    def __getattr__(self, name: str) -> Person:
        return self._people[name]

    def __iter__(self) -> Any:
        return iter(self._people.items())


def csrf_token_of(page: str) -> str:
    """Return the CSRF token of a page's forms."""
    return page.split('name="csrf_token" value="', 1)[1].split('"', 1)[0]
