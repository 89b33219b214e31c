"""What the demo's identity provider publishes, shows and signs, over real HTTP."""

import time
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from authlib.integrations.base_client import OAuthError
from joserfc import jwt
from joserfc.errors import JoseError
from running_provider import SCOPE, VERIFIER, WEB_REDIRECT, Provider, header_of, query_of

from demo.people import PEOPLE, find_person
from demo.tokens import fetch_token


def test_the_web_application_signs_a_person_in_with_pkce(provider: Provider) -> None:
    with provider.web_client() as client:
        location = provider.web_sign_in(client)
        assert location.startswith(f"{WEB_REDIRECT}?")
        assert parse_qs(urlsplit(location).query)["iss"] == [f"{provider.base_url}/acme"]
        token = client.fetch_token(authorization_response=location, state="web-state", code_verifier=VERIFIER)
    lead = find_person("lead")
    now = time.time()

    claims = jwt.decode(token["id_token"], provider.keys("acme"), algorithms=["RS256"]).claims
    assert claims["iss"] == f"{provider.base_url}/acme"
    assert claims["sub"] == lead.subject
    assert claims["aud"] == claims["azp"] == "keepline-web"
    assert claims["nonce"] == "web-nonce"
    assert now - 60 < claims["iat"] <= now < claims["exp"]
    assert now - 60 < claims["auth_time"] <= now
    assert claims["teams"] == ["Operations"]
    assert claims["roles"] == ["lead:Operations"]
    assert (claims["name"], claims["preferred_username"]) == ("Priya Nair", "lead")
    assert (claims["email"], claims["email_verified"]) == ("lead@acme.example", True)


def test_an_access_token_is_what_rfc_9068_asks_for(provider: Provider) -> None:
    token = provider.exchange(provider.code("member")).json()
    access_token = token["access_token"]
    header = header_of(access_token)
    assert header["typ"] == "at+jwt"
    assert header["alg"] == "RS256"
    assert header["kid"] in {key.kid for key in provider.keys("acme").keys}
    claims = jwt.decode(access_token, provider.keys("acme"), algorithms=["RS256"]).claims
    assert claims["iss"] == f"{provider.base_url}/acme"
    assert claims["aud"] == "keepline"
    assert claims["sub"] == find_person("member").subject
    assert claims["client_id"] == claims["azp"] == "demo-console"
    assert claims["exp"] - claims["iat"] == token["expires_in"] == 3600
    assert claims["scope"] == SCOPE
    assert claims["jti"]
    assert (claims["name"], claims["email"]) == ("Mina Okafor", "member@acme.example")
    assert (claims["teams"], claims["roles"]) == (["Operations"], [])
    assert "refresh_token" not in token


def test_discovery_says_what_the_provider_does(provider: Provider) -> None:
    answer = provider.http.get(f"{provider.base_url}/birch/.well-known/openid-configuration")
    metadata = answer.json()
    issuer = f"{provider.base_url}/birch"
    assert metadata["issuer"] == issuer
    for name in ("authorization", "token", "userinfo"):
        assert metadata[f"{name}_endpoint"].startswith(f"{issuer}/")
    assert metadata["jwks_uri"] == f"{issuer}/jwks"
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["id_token_signing_alg_values_supported"] == ["RS256"]
    assert metadata["authorization_response_iss_parameter_supported"] is True
    assert set(metadata["grant_types_supported"]) == {"authorization_code", "refresh_token"}
    assert answer.headers["Cache-Control"] == "no-store"


def test_published_keys_hold_nothing_private(provider: Provider) -> None:
    (key,) = provider.http.get(f"{provider.base_url}/acme/jwks").json()["keys"]
    assert set(key) == {"kty", "use", "alg", "kid", "n", "e"}


def test_issuers_have_keys_of_their_own(provider: Provider) -> None:
    token = fetch_token(provider.base_url, "member", "demo-console")
    acme, birch = provider.keys("acme"), provider.keys("birch")
    assert jwt.decode(token, acme).claims["iss"].endswith("/acme")
    # Without the key id, so that the signature itself is put to the test.
    with pytest.raises(JoseError):
        jwt.decode(token, birch.keys[0])
    with pytest.raises(JoseError):
        jwt.decode(token, birch)


@pytest.mark.parametrize("slug", ["acme", "birch"])
def test_the_page_names_all_people_of_its_org_and_nobody_else(provider: Provider, slug: str) -> None:
    page = provider.http.get(provider.address(slug))
    assert page.status_code == 200
    for person in PEOPLE:
        button = f'name="person" value="{person.login_name}"'
        assert (button in page.text) == (person.org.slug == slug)
        assert (person.display_name in page.text) == (person.org.slug == slug)
    assert page.headers["Cache-Control"] == "no-store"
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert "form-action 'self' http://127.0.0.1:49152;" in policy
    assert "<script" not in page.text


def test_a_login_hint_puts_that_person_first(provider: Provider) -> None:
    page = provider.http.get(provider.address(login_hint="admin")).text
    assert page.index('value="admin"') < page.index('value="member"')


def test_a_person_of_the_other_org_cannot_be_chosen(provider: Provider) -> None:
    answer = provider.http.post(provider.address("acme"), data={"person": "stranger"})
    assert answer.status_code == 400
    assert "Choose one of the people" in answer.text
    assert 'value="stranger"' not in answer.text


def test_declining_tells_the_application(provider: Provider) -> None:
    answer = query_of(provider.http.post(provider.address(), data={"decline": "yes"}))
    assert answer["error"] == "access_denied"
    assert (answer["state"], answer["iss"]) == ("the-state", f"{provider.base_url}/acme")


def test_refreshing_rotates_and_reuse_ends_the_line(provider: Provider) -> None:
    with provider.web_client() as client:
        first = client.fetch_token(authorization_response=provider.web_sign_in(client), code_verifier=VERIFIER).copy()
        time.sleep(1.1)  # tokens count whole seconds: the refresh has to fall into a later one
        second = client.refresh_token(refresh_token=first["refresh_token"]).copy()
        assert second["refresh_token"] != first["refresh_token"]
        assert second["access_token"] != first["access_token"]
        keys = provider.keys("acme")
        before, after = (jwt.decode(token["id_token"], keys).claims for token in (first, second))
        assert after["sub"] == before["sub"]
        assert after["auth_time"] == before["auth_time"]
        assert after["iat"] > before["auth_time"]
        assert "nonce" not in after

        narrow = client.refresh_token(refresh_token=second["refresh_token"], scope="openid").copy()
        assert jwt.decode(narrow["access_token"], keys).claims["scope"] == "openid"
        wide = client.refresh_token(refresh_token=narrow["refresh_token"], scope=SCOPE).copy()
        assert jwt.decode(wide["access_token"], keys).claims["scope"] == SCOPE
        with pytest.raises(OAuthError, match="invalid_grant"):
            client.refresh_token(refresh_token=first["refresh_token"])
        # Somebody holds a stolen copy, and it cannot be told who: nobody goes on.
        with pytest.raises(OAuthError, match="invalid_grant"):
            client.refresh_token(refresh_token=wide["refresh_token"])


def test_userinfo_tells_what_the_scope_allows(provider: Provider) -> None:
    def userinfo(token: str, slug: str = "acme") -> httpx2.Response:
        address = f"{provider.base_url}/{slug}/userinfo"
        return provider.http.get(address, headers={"Authorization": f"Bearer {token}"})

    reviewer = find_person("reviewer")
    full = provider.exchange(provider.code("reviewer")).json()
    claims = userinfo(full["access_token"]).json()
    assert (claims["sub"], claims["email"], claims["roles"]) == (
        reviewer.subject,
        reviewer.email,
        ["reviewer"],
    )
    without_roles = provider.exchange(provider.code("member")).json()["access_token"]
    assert userinfo(without_roles).json()["roles"] == []
    narrow = provider.exchange(provider.code("reviewer", scope="openid")).json()["access_token"]
    assert set(userinfo(narrow).json()) == {"sub", "teams", "roles"}

    assert userinfo(provider.exchange(provider.code(scope="email")).json()["access_token"]).status_code == 403
    for wrong in (full["id_token"], "made-up", full["access_token"][:-8] + "AAAAAAAA"):
        assert userinfo(wrong).status_code == 401
    assert userinfo(full["access_token"], slug="birch").status_code == 401
    assert provider.http.get(f"{provider.base_url}/acme/userinfo").status_code == 401
