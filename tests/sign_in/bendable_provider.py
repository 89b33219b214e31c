"""An identity provider of the tests' own, whose every answer can be bent, and two orgs that share it."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from flask import Flask, Response, jsonify, request
from flask.testing import FlaskClient
from joserfc.jwk import KeySet, RSAKey
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from tenancy.clients import ASSISTANT_SCOPES, USER_SCOPES, Kind
from tenancy.database import operator_login
from tenancy.guards import GuardedFlask
from tenancy.migrate import as_maintainer
from tenancy.registration import Connection, ProviderSettings, add_org, connect_provider, register_client
from tests.world import World

AUDIENCE = "bendable-api"
WEB_CLIENT = "bendable-web"
ASSISTANT, CONSOLE = "bendable-assistant", "bendable-console"
ORGS = ("cedar", "elm")  # told apart by the claim `tenant`


@dataclass
class BendableProvider:
    """What the provider answers; a change of None leaves a claim, a parameter or a field out."""

    issuer: str
    key: RSAKey
    published: list[dict[str, Any]] = field(default_factory=list)
    discovery: dict[str, Any] = field(default_factory=dict)
    id_claims: dict[str, Any] = field(default_factory=dict)
    id_header: dict[str, Any] = field(default_factory=dict)
    id_key: RSAKey | None = None
    id_token: str | None = None
    refresh_token: str | None = None
    token_reply: Response | None = None
    discovery_reply: Response | None = None
    keys_reply: Response | None = None
    nonce: str = ""
    before_signing: Callable[[], None] = lambda: None
    exchanges: list[dict[str, str]] = field(default_factory=list)
    keys_asked: int = 0
    asked: list[str] = field(default_factory=list)

    def straighten(self) -> None:
        """Answer properly again."""
        fresh = BendableProvider(self.issuer, self.key, published=[self.key.as_dict(private=False)])
        self.__dict__.update(fresh.__dict__)

    def describe(self) -> dict[str, Any]:
        return _without_none(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/jwks",
                "authorization_response_iss_parameter_supported": True,
                **self.discovery,
            }
        )

    def sign(self, claims: dict[str, Any], header: dict[str, Any] | None = None, key: RSAKey | None = None) -> str:
        """Sign claims, the standard ones filled in."""
        signing = key or self.key
        now = int(time.time())
        everything = {"iss": self.issuer, "sub": "u-7", "iat": now, "exp": now + 300, "tenant": "cedar", **claims}
        headers = _without_none({"alg": "RS256", "kid": signing.kid, **(header or {})})
        # By hand: a library would refuse to write much of what a bent token holds.
        signed = f"{_encoded(headers)}.{_encoded(_without_none(everything))}"
        assert signing.private_key is not None
        signature = signing.private_key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signed}.{_base64(signature)}"

    def sign_id_token(self) -> str:
        self.before_signing()
        claims = {"aud": WEB_CLIENT, "nonce": self.nonce, **self.id_claims}
        return self.id_token or self.sign(claims, self.id_header, self.id_key)

    def access_token(self, header: dict[str, Any] | None = None, key: RSAKey | None = None, **claims: Any) -> str:
        """Sign an access token of the assistant, changed as told."""
        everything = {"aud": AUDIENCE, "client_id": ASSISTANT, **claims}
        return self.sign(everything, {"typ": "at+jwt", **(header or {})}, key)

    def sign_in(self, app: GuardedFlask, **answer: str | None) -> tuple[FlaskClient, TestResponse]:
        """Go through a sign-in to cedar in a new browser, the parameters of the callback changed as told."""
        browser = app.test_client()
        begun = browser.get("/login/start", query_string={"org": "cedar"})
        if begun.status_code != 302:
            return browser, begun
        asked = {name: values[0] for name, values in parse_qs(urlsplit(begun.headers["Location"]).query).items()}
        self.nonce = asked["nonce"]
        sent = _without_none({"code": "the-code", "state": asked["state"], "iss": self.issuer, **answer})
        return browser, browser.get("/login/callback", query_string=sent)


def unsigned(claims: dict[str, Any]) -> str:
    """A token with the algorithm none."""
    return f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."


def signed_with_the_public_key(provider: BendableProvider, claims: dict[str, Any], typ: str = "JWT") -> str:
    """A token whose HMAC is keyed with the provider's public key, which a careless verifier takes for a secret."""
    signed = f"{_encoded({'alg': 'HS256', 'kid': provider.key.kid, 'typ': typ})}.{_encoded(claims)}"
    mac = hmac.digest(provider.key.as_pem(private=False), signed.encode(), hashlib.sha256)
    return f"{signed}.{_base64(mac)}"


@contextmanager
def running_provider(world: World) -> Iterator[BendableProvider]:
    """Serve the provider on a free port, connected to two orgs of the world."""
    flask_app = Flask("bendable")
    with make_server("127.0.0.1", 0, flask_app, threaded=True) as server:
        key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
        provider = BendableProvider(f"http://127.0.0.1:{server.port}", key)
        _serve(flask_app, provider)
        login = operator_login(world.settings)
        as_maintainer(login, lambda connection: _connect(connection, provider.issuer, world))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield provider
        server.shutdown()
        thread.join()


def _serve(app: Flask, provider: BendableProvider) -> None:
    @app.before_request
    def note() -> None:
        """Keep all that was sent: address, headers and body."""
        provider.asked.append(f"{request.full_path}\n{request.headers}\n{request.get_data(as_text=True)}")

    app.get("/.well-known/openid-configuration", endpoint="describe")(
        lambda: provider.discovery_reply or jsonify(provider.describe())
    )

    @app.get("/jwks")
    def keys() -> Response:
        provider.keys_asked += 1
        return provider.keys_reply or jsonify({"keys": provider.published})

    @app.post("/token")
    def exchange() -> Response:
        provider.exchanges.append(request.form.to_dict())
        reply = {
            "access_token": "opaque", "token_type": "Bearer", "id_token": provider.sign_id_token(),
            "refresh_token": provider.refresh_token,
        }  # fmt: skip
        return provider.token_reply or jsonify(_without_none(reply))


def _connect(connection: Connection, issuer: str, world: World) -> None:
    now = world.clock.now()
    for slug in ORGS:
        org_id = add_org(connection, slug, slug.title(), now)
        connect_provider(connection, org_id, ProviderSettings(issuer, AUDIENCE, WEB_CLIENT, None, "tenant", slug), now)
        register_client(connection, org_id, ASSISTANT, "Bendable assistant", Kind.ASSISTANT, ASSISTANT_SCOPES, now)
        register_client(connection, org_id, CONSOLE, "Bendable console", Kind.USER, USER_SCOPES, now)


def published_keys(*keys: RSAKey) -> list[dict[str, Any]]:
    return [dict(key) for key in KeySet(list(keys)).as_dict(private=False)["keys"]]


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _encoded(content: dict[str, Any]) -> str:
    return _base64(json.dumps(content).encode())


def _base64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
