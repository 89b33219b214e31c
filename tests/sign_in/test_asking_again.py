"""Refreshing: the provider is asked again who somebody is, and its answer is checked like the first one."""

import time
from typing import Any

import pytest
from bendable_provider import WEB_CLIENT, BendableProvider
from flask import Response, json

from tenancy.guards import GuardedFlask
from tenancy.oidc import NoIdTokenError, ProviderUnavailableError, SignedIn, SignInRefusedError


def refresh(app: GuardedFlask) -> SignedIn:
    services = app.extensions["keepline"]
    known = services.directory.find_sign_in_provider("cedar")
    return services.providers.refresh(known, "first", "u-7")


def reply(status: int = 200, **fields: Any) -> Response:
    return Response(json.dumps(fields), status, mimetype="application/json")


def test_a_refresh_brings_new_claims_and_the_token_that_replaces_the_old_one(
    app: GuardedFlask, provider: BendableProvider
) -> None:
    provider.id_claims = {"nonce": None, "teams": ["Operations"]}
    signed_in = refresh(app)
    assert signed_in.claims["teams"] == ["Operations"]
    [sent] = provider.exchanges
    assert (sent["grant_type"], sent["refresh_token"]) == ("refresh_token", "first")
    assert "redirect_uri" not in sent
    provider.token_reply = reply(id_token=provider.sign_id_token(), refresh_token="second", access_token="x")
    assert refresh(app).refresh_token == "second"


@pytest.mark.parametrize("sent", [None, "", 5, ["x"], "x" * 9_000, "nul\0", "\u00e9"])
def test_the_old_token_goes_on_where_there_is_no_new_one_that_can_be_kept(
    sent: Any, app: GuardedFlask, provider: BendableProvider
) -> None:
    provider.token_reply = reply(id_token=provider.sign_id_token(), refresh_token=sent)
    assert refresh(app).refresh_token == "first"


NOW = int(time.time())


@pytest.mark.parametrize(
    "change",
    [
        {"sub": "u-8"}, {"sub": None}, {"sub": "U-7"}, {"iss": "https://other.example"},
        {"aud": "other"}, {"aud": [WEB_CLIENT, "other"]}, {"azp": "other"}, {"aud": "other", "azp": WEB_CLIENT},
        {"iat": NOW - 330}, {"iat": None}, {"iat": NOW + 86_400}, {"exp": NOW - 60}, {"exp": None}, {"tenant": "elm"},
    ],
    ids=repr,
)  # fmt: skip
def test_an_id_token_that_is_not_this_person_s_newest_is_refused(
    change: dict[str, Any], app: GuardedFlask, provider: BendableProvider
) -> None:
    provider.id_claims = change
    with pytest.raises(SignInRefusedError):
        refresh(app)


@pytest.mark.parametrize("typ", ["at+jwt", "application/at+jwt", "logout+jwt"])
def test_an_access_or_logout_token_is_no_id_token(typ: str, app: GuardedFlask, provider: BendableProvider) -> None:
    provider.id_header = {"typ": typ}
    with pytest.raises(SignInRefusedError):
        refresh(app)
    assert provider.sign_in(app)[1].status_code == 400


@pytest.mark.parametrize(
    "answer",
    [
        reply(id_token=["x"]), reply(id_token="a.b.c"), reply(400, error="invalid_grant"),
        reply(400, error="interaction_required"), reply(error="access_denied"),
    ],
    ids=lambda answer: f"{answer.status_code} {answer.get_data(as_text=True)}",
)  # fmt: skip
def test_a_refusal_is_a_refusal(answer: Response, app: GuardedFlask, provider: BendableProvider) -> None:
    provider.token_reply = answer
    with pytest.raises(SignInRefusedError):
        refresh(app)


@pytest.mark.parametrize(
    "answer",
    [
        reply(500, error="invalid_grant"), reply(503), reply(429, error="invalid_grant"),
        reply(400, error="temporarily_unavailable"), reply(400, error="server_error"), Response("<html>", 200),
        Response("<html>", 404), Response("", 302, {"Location": "/elsewhere"}), Response("[]", 200),
        Response("[" * 50_000, 200), Response("x" * 2_000_000, 200),
    ],
    ids=lambda answer: f"{answer.status_code} {answer.get_data(as_text=True)[:40]}",
)  # fmt: skip
def test_a_provider_that_is_out_of_order_says_nothing_about_the_person(
    answer: Response, app: GuardedFlask, provider: BendableProvider
) -> None:
    """Nobody is signed out because a provider or something before it has a bad day."""
    provider.token_reply = answer
    with pytest.raises(ProviderUnavailableError):
        refresh(app)


@pytest.mark.parametrize("answer", [reply(access_token="x"), reply(id_token=None, refresh_token="second")], ids=repr)
def test_a_refresh_without_an_id_token_says_nothing_about_the_person(
    answer: Response, app: GuardedFlask, provider: BendableProvider
) -> None:
    """OpenID Connect Core 12.2 allows it; a sign-in without one is refused."""
    provider.token_reply = answer
    with pytest.raises(NoIdTokenError):
        refresh(app)
    assert issubclass(NoIdTokenError, ProviderUnavailableError)
    assert provider.sign_in(app)[1].status_code == 400


@pytest.mark.parametrize("error", ["invalid_client", "unauthorized_client"])
@pytest.mark.parametrize("status", [400, 401])
def test_a_client_that_is_not_accepted_says_nothing_about_the_person(
    error: str, status: int, app: GuardedFlask, provider: BendableProvider
) -> None:
    """A secret that ran out signs nobody out; who signs in is told whom to ask."""
    provider.token_reply = reply(status, error=error)
    with pytest.raises(ProviderUnavailableError, match="An admin or the operator must check client id and secret"):
        refresh(app)
    answer = provider.sign_in(app)[1]
    assert answer.status_code == 503
    assert "An admin or the operator must check client id and secret" in answer.text


def test_a_refresh_token_is_asked_for_where_the_provider_offers_it(
    app: GuardedFlask, provider: BendableProvider
) -> None:
    services = app.extensions["keepline"]
    known = services.directory.find_sign_in_provider("cedar")
    address, _ = services.providers.begin(known, "http://127.0.0.1/x", "/")
    assert "offline_access" not in address
    provider.discovery = {"scopes_supported": ["openid", "offline_access"]}
    with_offer = type(services.providers)(services.clock, services.sessions.box, allow_loopback=True)
    address, _ = with_offer.begin(known, "http://127.0.0.1/x", "/")
    assert "offline_access" in address
    assert "prompt" not in address
