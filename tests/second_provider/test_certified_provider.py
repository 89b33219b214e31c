"""Keepline with a certified provider that it was not written beside: oidc-provider, two issuers for two orgs."""

import httpx2
from node_provider import AUDIENCE, PEOPLE
from two_issuers import Issuers

from tenancy.oidc import SignInRefusedError
from tests.world import World

BLOCK = "/v1/memory/block"
MEMORY = "/settings/memory"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_person_signs_in_and_the_assistant_acts_for_the_same_person(issuers: Issuers) -> None:
    """The whole way, at an issuer that signs with ES256 and at one that signs with EdDSA."""
    for provider in (issuers.maple, issuers.rowan):
        browser, reply = provider.sign_in(issuers.app)
        assert (reply.status_code, reply.headers["Location"]) == (302, MEMORY)
        assert "Noor Haddad" in browser.get(MEMORY).text
        client = issuers.app.test_client()
        text = f"At {provider.org}."
        saved = client.put(BLOCK, json={"text": text}, headers=bearer(provider.access_token()))
        assert saved.status_code == 200, saved.text
        assert browser.get(BLOCK).get_json()["text"] == text


def test_the_same_subject_at_two_issuers_is_two_people(issuers: Issuers) -> None:
    client = issuers.app.test_client()
    tokens = [provider.access_token() for provider in (issuers.maple, issuers.rowan)]
    assert client.put(BLOCK, json={"text": "In maple."}, headers=bearer(tokens[0])).status_code == 200
    assert client.get(BLOCK, headers=bearer(tokens[0])).get_json()["text"] == "In maple."
    assert client.get(BLOCK, headers=bearer(tokens[1])).get_json()["text"] == ""


def test_a_code_of_one_issuer_finishes_no_sign_in_at_the_other(issuers: Issuers, world: World) -> None:
    """Also when the answer is dressed up as the other's: the code is not redeemed there, and no session starts."""
    browser = issuers.app.test_client()
    wanted = issuers.maple.answer(issuers.maple.begin(browser), "noor")
    foreign = issuers.rowan.answer(issuers.rowan.begin(issuers.app.test_client()), "noor")
    mixed = {**foreign, "state": wanted["state"]}
    refused = browser.get("/login/callback", query_string=mixed)
    assert refused.status_code == 400

    browser = issuers.app.test_client()
    wanted = issuers.maple.answer(issuers.maple.begin(browser), "noor")
    dressed_up = {**wanted, "code": foreign["code"]}
    assert browser.get("/login/callback", query_string=dressed_up).status_code == 400
    assert browser.get(MEMORY).status_code == 302
    assert world.rows("SELECT count(*) FROM app.web_sessions") == [(0,)]


def test_an_answer_without_its_issuer_is_refused_where_the_provider_names_it(issuers: Issuers) -> None:
    for change in ({}, {"iss": issuers.rowan.issuer}):
        browser = issuers.app.test_client()
        answer = issuers.maple.answer(issuers.maple.begin(browser), "noor")
        assert answer.pop("iss") == issuers.maple.issuer
        assert browser.get("/login/callback", query_string={**answer, **change}).status_code == 400


def test_a_token_of_one_issuer_is_no_token_of_the_other(issuers: Issuers) -> None:
    """The org follows from the issuer that signed: neither token opens what the other's holder stored."""
    client = issuers.app.test_client()
    token = issuers.maple.access_token("teo")
    assert client.put(BLOCK, json={"text": "Teo's in maple."}, headers=bearer(token)).status_code == 200
    other = client.get(BLOCK, headers=bearer(issuers.rowan.access_token("teo"))).get_json()
    assert other["text"] == ""


def test_refreshing_asks_the_provider_again_and_a_used_token_is_refused(issuers: Issuers) -> None:
    services = issuers.app.extensions["keepline"]
    provider = services.directory.find_sign_in_provider("maple")
    callback = f"{services.settings.public_url}/login/callback"
    address, sign_in = services.providers.begin(provider, callback, "/")
    answer = issuers.maple.answer(address, "noor")
    first = services.providers.finish(provider, callback, sign_in, answer)
    assert first.refresh_token
    assert first.claims["aud"] == provider.client_id != AUDIENCE
    second = services.providers.refresh(provider, first.refresh_token, "noor")
    assert second.claims["teams"] == PEOPLE["noor"]["teams"]
    assert second.refresh_token not in (None, first.refresh_token)
    for refresh_token, subject in ((second.refresh_token, "teo"), (first.refresh_token, "noor"), ("made up", "noor")):
        try:
            services.providers.refresh(provider, refresh_token, subject)
        except SignInRefusedError:
            continue
        raise AssertionError(f"refreshed with {refresh_token} as {subject}")


def test_new_keys_count_without_a_restart_and_old_ones_no_longer(issuers: Issuers) -> None:
    client, provider = issuers.app.test_client(), issuers.rowan
    assert client.get(BLOCK, headers=bearer(provider.access_token())).status_code == 200
    late = provider.access_token("teo")
    provider.make_new_keys(keep_old=True)
    issuers.keepline.move(11)
    assert client.get(BLOCK, headers=bearer(provider.access_token())).status_code == 200
    assert client.get(BLOCK, headers=bearer(late)).status_code == 200
    later = provider.access_token("teo")
    provider.make_new_keys(keep_old=False)
    issuers.keepline.move(61)
    assert provider.sign_in(issuers.app)[1].status_code == 302
    assert client.get(BLOCK, headers=bearer(later)).status_code == 401


def test_signing_out_at_the_provider_ends_the_session_here(issuers: Issuers, world: World) -> None:
    """The provider's own logout token, sent by the provider itself; another person's session goes on."""
    provider = issuers.maple
    with httpx2.Client(trust_env=False) as noor_there:
        browser, reply = provider.sign_in(issuers.app, "noor", noor_there)
        assert reply.status_code == 302
        other, _ = provider.sign_in(issuers.app, "teo")
        assert browser.get(MEMORY).status_code == other.get(MEMORY).status_code == 200
        provider.sign_out(noor_there)
    assert browser.get(MEMORY).status_code == 302
    assert other.get(MEMORY).status_code == 200
    assert world.rows("SELECT count(*) FROM app.web_sessions") == [(1,)]


def test_the_provider_passes_the_examination(issuers: Issuers) -> None:
    findings = issuers.app.extensions["keepline"].providers.examine(issuers.maple.issuer)
    assert [finding for finding in findings if not finding.ok] == []
    assert len(findings) >= 12
