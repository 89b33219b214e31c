"""Logout tokens, as Back-Channel Logout 1.0 section 2.6 asks: what one says, and every way in which one is none."""

import time
from typing import Any

import pytest
from bendable_provider import ASSISTANT, AUDIENCE, WEB_CLIENT, BendableProvider
from joserfc.jwk import RSAKey

from tenancy.guards import GuardedFlask
from tenancy.oidc import LogoutRefusedError, LogoutToken, SignInRefusedError
from tests.clocked import ClockedApp

EVENT = "http://schemas.openid.net/event/backchannel-logout"


def check(
    app: GuardedFlask,
    provider: BendableProvider,
    header: dict[str, Any] | None = None,
    key: RSAKey | None = None,
    **claims: Any,
) -> LogoutToken:
    services = app.extensions["keepline"]
    known = services.directory.find_sign_in_provider("cedar")
    everything = {"aud": WEB_CLIENT, "events": {EVENT: {}}, "jti": "j-1", "tenant": None, "exp": None, **claims}
    token = provider.sign(everything, {"typ": "logout+jwt", **(header or {})}, key)
    return services.providers.verify_logout_token(token, known)


def test_a_logout_token_says_whose_sessions_end_and_until_when_its_id_matters(
    app: GuardedFlask, provider: BendableProvider
) -> None:
    now = int(time.time())
    by_subject = check(app, provider, iat=now)
    assert (by_subject.subject, by_subject.provider_session) == ("u-7", None)
    assert (by_subject.token_id, by_subject.issued_at) == ("j-1", now)
    assert 300 <= by_subject.expires_at - now <= 320
    by_session = check(app, provider, sub=None, sid="s-1", exp=now + 60, iat=now)
    assert (by_session.subject, by_session.provider_session) == (None, "s-1")
    assert 60 <= by_session.expires_at - now <= 80
    far = check(app, provider, sid="s-1", exp=now + 10**9, iat=now)
    assert (far.subject, far.provider_session) == ("u-7", "s-1")
    assert far.expires_at - now <= 320


@pytest.mark.parametrize("typ", [None, "JWT", "jwt", "logout+jwt", "LOGOUT+JWT", "application/logout+jwt"])
def test_its_type_may_be_missing_or_plain(typ: str | None, app: GuardedFlask, provider: BendableProvider) -> None:
    assert check(app, provider, {"typ": typ}).token_id == "j-1"


def test_further_events_and_audiences_and_the_orgs_own_claim_do_no_harm(
    app: GuardedFlask, provider: BendableProvider
) -> None:
    assert check(app, provider, events={EVENT: {"x": 1}, "other": {}}, aud=["other", WEB_CLIENT], tenant="cedar")


NOW = int(time.time())


@pytest.mark.parametrize(
    "change",
    [
        {"events": None}, {"events": {}}, {"events": []}, {"events": [EVENT]}, {"events": EVENT},
        {"events": {EVENT: None}}, {"events": {EVENT: []}}, {"events": {EVENT: True}}, {"events": {"other": {}}},
        {"nonce": "n"}, {"nonce": ""},
        {"jti": None}, {"jti": ""}, {"jti": 5}, {"jti": ["j"]}, {"jti": "x" * 256}, {"jti": "nul\0"},
        {"sub": None}, {"sub": ""}, {"sub": 5}, {"sub": "x" * 256}, {"sub": "nul\0"}, {"sub": "half-\ud83d"},
        {"sub": None, "sid": ""}, {"sid": 5}, {"sid": "x" * 256}, {"sid": "nul\0"}, {"sub": None, "sid": ["s"]},
        {"iss": None}, {"iss": "https://other.example"},
        {"aud": None}, {"aud": "other"}, {"aud": AUDIENCE}, {"aud": [ASSISTANT]}, {"aud": {WEB_CLIENT: 1}},
        {"iat": None}, {"iat": "now"}, {"iat": NOW - 330}, {"iat": NOW + 86_400}, {"iat": True}, {"iat": 10**400},
        {"exp": NOW - 60}, {"exp": "soon"}, {"exp": 10**400}, {"nbf": NOW + 86_400},
        {"tenant": "elm"}, {"tenant": ["cedar"]},
    ],
    ids=repr,
)  # fmt: skip
def test_a_token_that_is_not_a_logout_token_for_this_client_is_refused(
    change: dict[str, Any], app: GuardedFlask, provider: BendableProvider
) -> None:
    with pytest.raises(LogoutRefusedError):
        check(app, provider, **change)


def test_a_null_nonce_is_a_nonce_too(app: GuardedFlask, provider: BendableProvider) -> None:
    """Section 2.4: the member must not be there at all."""
    straight = BendableProvider.sign
    token = straight(provider, {"aud": WEB_CLIENT, "events": {EVENT: {}}, "jti": "j", "nonce": 0, "exp": None})
    services = app.extensions["keepline"]
    with pytest.raises(LogoutRefusedError):
        services.providers.verify_logout_token(token, services.directory.find_sign_in_provider("cedar"))


@pytest.mark.parametrize("typ", ["at+jwt", "application/at+jwt", "id+jwt", "dpop+jwt", ""])
def test_a_token_of_another_type_is_refused(typ: str, app: GuardedFlask, provider: BendableProvider) -> None:
    if typ == "":
        assert check(app, provider, {"typ": typ}).token_id == "j-1"
        return
    with pytest.raises(LogoutRefusedError):
        check(app, provider, {"typ": typ})


def test_another_key_signs_no_logout_token(app: GuardedFlask, provider: BendableProvider) -> None:
    mallory = RSAKey.generate_key(2048, auto_kid=True)
    for header in ({}, {"kid": provider.key.kid}, {"jwk": mallory.as_dict(private=False)}):
        with pytest.raises(SignInRefusedError):
            check(app, provider, header, mallory)


def test_its_id_is_remembered_for_as_long_as_the_token_is_taken(
    provider: BendableProvider, clocked: ClockedApp
) -> None:
    """Up to `expires_at` it may pass; from then on it never does, so that forgetting the id opens nothing."""
    issued = int(time.time())
    for claims in ({}, {"exp": issued + 100}, {"exp": issued + 10_000}):
        taken_until = 0
        expires_at = check(clocked.app, provider, iat=issued, **claims).expires_at
        moved_so_far = 0
        for seconds in (90, 105, 108, 112, 295, 305, 312, 400):
            clocked.move(seconds - moved_so_far)
            moved_so_far = seconds
            try:
                check(clocked.app, provider, iat=issued, **claims)
            except LogoutRefusedError:
                continue
            taken_until = clocked.clock.credential_now().timestamp()
        clocked.move(-moved_so_far)
        assert issued + 90 <= taken_until < expires_at
