"""What the demo's identity provider refuses, to whom it says so, and what a refusal costs."""

import threading
from pathlib import Path

import pytest
from authlib.integrations.base_client import OAuthError
from running_provider import (
    LOOPBACK_REDIRECT,
    SCOPE,
    SECRET,
    VERIFIER,
    WEB_REDIRECT,
    Provider,
    query_of,
)

from demo.people import PEOPLE
from demo.provider import create_provider
from demo.provider.store import AuthorizationCode, RefreshToken, SignIn, SingleUse


def test_a_code_of_one_issuer_is_worth_nothing_at_the_other(provider: Provider) -> None:
    refused = provider.exchange(provider.code("member"), slug="birch")
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": 'código"'}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"scope": "payroll"}, "invalid_scope"),
        ({"prompt": "none"}, "login_required"),
        ({"request": "e30.e30."}, "request_not_supported"),
        ({"request_uri": "https://x.example/"}, "request_uri_not_supported"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_wrong_request_is_told_to_the_application(
    provider: Provider, method: str, changes: dict[str, str | None], error: str
) -> None:
    data = {"person": "member"} if method == "POST" else None
    response = provider.http.request(method, provider.address(**changes), data=data)
    answer = query_of(response)
    assert response.headers["Location"].startswith(f"{LOOPBACK_REDIRECT}?")
    assert answer["error"] == error
    assert "code" not in answer
    assert (answer["state"], answer["iss"]) == ("the-state", f"{provider.base_url}/acme")


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "somebody-else"},
        {"client_id": None},
        {"redirect_uri": None},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1:49152/callback?next=x"},
        {"redirect_uri": "http://127.0.0.1:49152/callback/"},
        {"redirect_uri": "http://127.0.0.1@evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1:80.evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1/callback\r\nX: y"},
        {"redirect_uri": 'http://127.0.0.1/"é'},
        {"client_id": "keepline-web", "redirect_uri": LOOPBACK_REDIRECT},
        {"client_id": "keepline-web", "redirect_uri": f"{WEB_REDIRECT}/more"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nobody_is_sent_to_an_address_that_is_not_registered(
    provider: Provider, method: str, changes: dict[str, str | None]
) -> None:
    data = {"person": "member"} if method == "POST" else None
    response = provider.http.request(method, provider.address(**changes), data=data)
    assert response.status_code == 400
    assert "Location" not in response.headers
    assert "Signing in is not possible" in response.text


def test_a_second_redirect_address_is_refused(provider: Provider) -> None:
    twice = f"{provider.address()}&redirect_uri=https%3A%2F%2Fevil.example"
    assert provider.http.get(twice).status_code == 400
    in_the_form = {"person": "member", "redirect_uri": "https://evil.example"}
    assert provider.http.post(provider.address(), data=in_the_form).status_code == 400


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "w" * 64}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"redirect_uri": "http://127.0.0.1:49153/callback"}, "invalid_grant"),
        ({"client_id": "demo-assistant"}, "invalid_grant"),
        ({"client_id": "keepline-web"}, "invalid_client"),
        ({"grant_type": "password", "username": "member", "password": "x"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"code": "made-up"}, "invalid_grant"),
    ],
)
def test_a_code_is_given_for_nothing_but_what_it_was_made_for(
    provider: Provider, changes: dict[str, str], error: str
) -> None:
    code = provider.code()
    refused = provider.exchange(**{"code": code, **changes})
    assert refused.status_code in {400, 401}
    assert refused.json()["error"] == error
    # The refusal cost the rightful holder nothing.
    assert provider.exchange(code).status_code == 200


def test_a_code_works_once(provider: Provider) -> None:
    code = provider.code()
    assert provider.exchange(code).status_code == 200
    again = provider.exchange(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")


def test_a_code_works_once_however_many_ask_at_the_same_time(provider: Provider) -> None:
    code, outcomes, together = provider.code(), [], threading.Barrier(8)

    def ask() -> None:
        together.wait()
        outcomes.append(provider.exchange(code).status_code)

    threads = [threading.Thread(target=ask) for _ in range(together.parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [200] + [400] * 7


def test_the_web_application_needs_its_secret(provider: Provider) -> None:
    with provider.web_client("not-the-secret") as client:
        location = provider.web_sign_in(client)
        with pytest.raises(OAuthError, match="invalid_client"):
            client.fetch_token(authorization_response=location, code_verifier=VERIFIER)


def test_the_web_application_needs_pkce_as_well(provider: Provider) -> None:
    with provider.web_client() as client:
        location = provider.web_sign_in(client)
        with pytest.raises(OAuthError, match="invalid_request"):
            client.fetch_token(authorization_response=location)


def test_using_a_code_again_ends_what_came_from_it(provider: Provider) -> None:
    with provider.web_client() as client:
        location = provider.web_sign_in(client)
        token = client.fetch_token(authorization_response=location, code_verifier=VERIFIER).copy()
        with pytest.raises(OAuthError, match="invalid_grant"):
            client.fetch_token(authorization_response=location, code_verifier=VERIFIER)
        with pytest.raises(OAuthError, match="invalid_grant"):
            client.refresh_token(refresh_token=token["refresh_token"])


def test_other_orgs_and_other_hosts_are_not_answered(provider: Provider) -> None:
    assert provider.http.get(f"{provider.base_url}/cedar/jwks").status_code == 404
    rebound = provider.http.get(f"{provider.base_url}/acme/jwks", headers={"Host": "evil.example"})
    assert rebound.status_code == 400


def test_the_web_application_cannot_be_without_secret_or_address(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="client secret"):
        create_provider("http://127.0.0.1:9", tmp_path, (WEB_REDIRECT,), "")
    with pytest.raises(ValueError, match="redirect address"):
        create_provider("http://127.0.0.1:9", tmp_path, {"acme": (WEB_REDIRECT,), "birch": ()}, SECRET)


def test_secrets_expire_and_work_once() -> None:
    now = [0.0]
    codes: SingleUse[AuthorizationCode] = SingleUse(60, clock=lambda: now[0])
    sign_in = SignIn(PEOPLE[0], 0)
    code = AuthorizationCode("family", "demo-console", LOOPBACK_REDIRECT, SCOPE, None, "c", "S256", sign_in)
    codes.save("in time", code)
    codes.save("too late", code)
    now[0] = 59.9
    assert codes.spend("in time")
    assert not codes.spend("in time")
    assert codes.find("in time") is code
    now[0] = 60.0
    assert codes.find("too late") is None
    assert not codes.spend("too late")

    refresh_tokens: SingleUse[RefreshToken] = SingleUse(60, clock=lambda: now[0])
    refresh_tokens.save("mine", RefreshToken("family", "keepline-web", SCOPE, sign_in))
    refresh_tokens.save("another's", RefreshToken("other family", "keepline-web", SCOPE, sign_in))
    refresh_tokens.revoke("family")
    assert refresh_tokens.find("mine") is None
    assert refresh_tokens.find("another's") is not None
