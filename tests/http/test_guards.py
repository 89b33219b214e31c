"""What holds for every route: it has a guard, and nobody gets past it without the right credential."""

import re

import pytest
from flask import Flask

from tenancy.guards import PUBLIC, Door, GuardedFlask, call, guard_of, guarded, page
from tests.cast import Cast
from tests.world import WEB_PORT, World

ID = "019a0000-0000-7000-8000-000000000000"
PUBLIC_ADDRESSES = {
    "/", "/login", "/login/start", "/login/callback", "/logout/backchannel", "/theme", "/healthz", "/readyz",
    "/v1/openapi.json", "/.well-known/oauth-protected-resource/v1", "/static/<path:filename>",
}  # fmt: skip
CHALLENGE = (
    f'Bearer realm="keepline", resource_metadata="http://127.0.0.1:{WEB_PORT}/.well-known/oauth-protected-resource/v1"'
)


def routes_of(app: Flask, door: Door | None = None) -> list[tuple[str, str, str | None]]:
    """Method, address and scope of every route, or of those by one door."""
    found = []
    for rule in app.url_map.iter_rules():
        guard = guard_of(app, rule.endpoint)
        if door in (None, guard.door):
            address = re.sub(r"<[^>]+>", ID, rule.rule)
            found += [
                (method, address, guard.scope) for method in sorted((rule.methods or set()) - {"OPTIONS", "HEAD"})
            ]
    return found


def test_every_route_has_a_guard_and_only_these_are_public(world: World) -> None:
    public = {
        rule.rule for rule in world.app.url_map.iter_rules() if guard_of(world.app, rule.endpoint).door is Door.PUBLIC
    }
    assert public == PUBLIC_ADDRESSES
    assert len(routes_of(world.app, Door.API)) >= 6
    assert len(routes_of(world.app, Door.PAGE)) >= 7


def test_every_call_is_under_v1_and_every_page_is_not(world: World) -> None:
    assert all(address.startswith("/v1/") for _, address, _ in routes_of(world.app, Door.API))
    assert not any(address.startswith("/v1/") for _, address, _ in routes_of(world.app, Door.PAGE))


def test_every_call_names_a_scope(world: World) -> None:
    assert all(scope for _, _, scope in routes_of(world.app, Door.API))


@pytest.mark.parametrize("body", [None, b"{", b"x" * 2_000_000])
def test_every_call_without_a_credential_is_answered_401_whatever_its_body(body: bytes | None, world: World) -> None:
    client = world.app.test_client()
    for method, address, _ in routes_of(world.app, Door.API):
        reply = client.open(address, method=method, data=body)
        assert reply.status_code == 401, (method, address)
        assert reply.mimetype == "application/problem+json"
        assert reply.headers["WWW-Authenticate"] == CHALLENGE
        problem = reply.get_json()
        assert set(problem) == {"type", "title", "status", "detail", "code", "request_id"}
        assert (problem["code"], problem["status"]) == ("not_signed_in", 401)
        assert problem["type"] == "urn:keepline:problem:not_signed_in"
        assert problem["request_id"] == reply.headers["X-Request-Id"]


def test_a_bad_credential_is_answered_401_even_beside_a_good_session(world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    for method, address, _ in routes_of(world.app, Door.API):
        reply = browser.open(address, method=method, headers={"Authorization": "Bearer x.y.z"})
        assert reply.status_code == 401, (method, address)
        assert reply.headers["WWW-Authenticate"] == f'{CHALLENGE}, error="invalid_token"'


@pytest.mark.parametrize("body", [b"{", b"", b"x" * 2_000_000])
def test_an_assistant_is_answered_403_where_managing_is_asked_whatever_its_body(
    body: bytes, world: World, cast: Cast
) -> None:
    managed = [route for route in routes_of(world.app, Door.API) if route[2] == "memory:manage"]
    assert managed
    headers = {"Authorization": f"Bearer {cast.admin.assistant.token}"}
    for method, address, _ in managed:
        reply = world.app.test_client().open(address, method=method, headers=headers, data=body)
        assert (reply.status_code, reply.get_json()["code"]) == (403, "scope_missing"), (method, address)
        assert reply.get_json()["scope"] == "memory:manage"


def test_every_page_without_a_session_leads_to_the_sign_in_and_back(world: World) -> None:
    client = world.app.test_client()
    for method, address, _ in routes_of(world.app, Door.PAGE):
        reply = client.open(f"{address}?a=b%26c", method=method)
        if method == "GET":
            assert reply.status_code == 302, address
            wanted = (
                f"{address}?a=b%26c".replace("%", "%25").replace("/", "%2F").replace("?", "%3F").replace("=", "%3D")
            )
            assert reply.headers["Location"] == f"/login?next={wanted}"
        else:
            assert reply.status_code == 401, address
            assert 'href="/login"' in reply.text


def test_a_bearer_token_opens_no_page(world: World, cast: Cast) -> None:
    headers = {"Authorization": f"Bearer {cast.owner.program.token}"}
    for method, address, _ in routes_of(world.app, Door.PAGE):
        assert world.app.test_client().open(address, method=method, headers=headers).status_code in (302, 401)


def test_options_tell_nothing_without_a_credential(world: World) -> None:
    for _, address, _ in [*routes_of(world.app, Door.API), *routes_of(world.app, Door.PAGE)]:
        reply = world.app.test_client().options(address)
        assert reply.status_code == 401
        assert "Access-Control-Allow-Origin" not in reply.headers


def test_a_route_without_a_guard_cannot_be_registered() -> None:
    app = GuardedFlask("unguarded")

    def view() -> str:
        return "unreachable"

    with pytest.raises(TypeError, match="names no guard"):
        app.add_url_rule("/x", view_func=view)
    with pytest.raises(TypeError, match="names no guard"):
        app.get("/y")(view)
    with pytest.raises(TypeError, match="names no guard"):
        app.add_url_rule("/z", endpoint="z")
    assert {rule.rule for rule in app.url_map.iter_rules()} == {"/static/<path:filename>"}
    for number, guard in enumerate((PUBLIC, page(), call("memory:read"))):

        def guarded_view() -> str:
            return "reachable"

        app.add_url_rule(f"/{number}", endpoint=str(number), view_func=guarded(guard)(guarded_view))
