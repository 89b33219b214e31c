"""What an admin is told about a provider before anybody signs in through it, and what is never told."""

from typing import Any

import httpx2
import pytest
from bendable_provider import BendableProvider
from flask import Response
from listening import listening, replying

from tenancy.examination import Finding, examine_provider
from tenancy.fetch import Fetcher
from tenancy.guards import GuardedFlask

GOOD = {
    "code_challenge_methods_supported": ["plain", "S256"],
    "response_types_supported": ["code", "id_token"],
    "backchannel_logout_supported": True,
    "scopes_supported": ["openid", "offline_access"],
}


def examine(app: GuardedFlask, issuer: str) -> dict[str, Finding]:
    return {finding.subject: finding for finding in app.extensions["keepline"].providers.examine(issuer)}


def test_a_provider_that_fits_is_good_in_every_point(app: GuardedFlask, provider: BendableProvider) -> None:
    provider.discovery = GOOD
    findings = examine(app, provider.issuer)
    assert [finding for finding in findings.values() if not finding.ok] == []
    assert list(findings) == [
        "Address", "Discovery document", "Issuer", "authorization_endpoint", "token_endpoint", "jwks_uri", "Keys",
        "PKCE", "Response type", "Issuer in answers", "Back-channel logout", "Refresh",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "subject", "words"),
    [
        ({"issuer": None}, "Issuer", "names no issuer"),
        ({"issuer": 5}, "Issuer", "names no issuer"),
        ({"issuer": "https://other.example"}, "Issuer", "names another issuer"),
        ({"issuer": "https://login.example/{tenantid}/v2.0"}, "Issuer", "template"),
        ({"authorization_endpoint": None}, "authorization_endpoint", "no https address"),
        ({"token_endpoint": "http://10.0.0.5/token"}, "token_endpoint", "no https address"),
        ({"jwks_uri": "file:///etc/passwd"}, "jwks_uri", "no https address"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE", "does not list PKCE with S256"),
        ({"code_challenge_methods_supported": "S256"}, "PKCE", "does not list PKCE with S256"),
        ({"response_types_supported": ["id_token"]}, "Response type", "does not list the response type code"),
        ({"authorization_response_iss_parameter_supported": "true"}, "Issuer in answers", "RFC 9207"),
        ({"backchannel_logout_supported": None}, "Back-channel logout", "does not list back-channel logout"),
        ({"scopes_supported": ["openid"]}, "Refresh", "offline_access"),
    ],
)
def test_a_point_that_is_not_in_order_is_said_with_what_to_do(
    change: dict[str, Any], subject: str, words: str, app: GuardedFlask, provider: BendableProvider
) -> None:
    provider.discovery = {**GOOD, **change}
    findings = examine(app, provider.issuer)
    assert not findings[subject].ok
    assert words in findings[subject].sentence
    assert {name for name, finding in findings.items() if not finding.ok} == {subject}


def test_a_slash_at_the_end_is_said_as_such(app: GuardedFlask, provider: BendableProvider) -> None:
    provider.discovery = GOOD
    findings = examine(app, f"{provider.issuer}/")
    assert "slash at its end" in findings["Issuer"].sentence


def test_pkce_is_not_asked_after_where_a_provider_does_not_say(app: GuardedFlask, provider: BendableProvider) -> None:
    provider.discovery = {**GOOD, "code_challenge_methods_supported": None}
    assert "PKCE" not in examine(app, provider.issuer)


def test_keys_that_cannot_be_used_are_said(app: GuardedFlask, provider: BendableProvider) -> None:
    provider.discovery = GOOD
    provider.published = [{"kty": "oct", "k": "AA"}]
    assert "no key" in examine(app, provider.issuer)["Keys"].sentence
    provider.keys_reply = Response("secret internals", 200)
    finding = examine(app, provider.issuer)["Keys"]
    assert not finding.ok
    assert "secret internals" not in finding.sentence


def test_it_reads_anew_and_leaves_what_sign_ins_use_alone(app: GuardedFlask, provider: BendableProvider) -> None:
    assert provider.sign_in(app)[1].status_code == 302
    provider.discovery = {"issuer": "https://other.example"}
    assert not examine(app, provider.issuer)["Issuer"].ok
    assert provider.sign_in(app)[1].status_code == 302
    provider.discovery = GOOD
    assert examine(app, provider.issuer)["Issuer"].ok


@pytest.mark.parametrize(
    "issuer",
    ["", "x", "http://idp.example", "ftp://idp.example", "https://user:secret@idp.example", "https://idp.example/?a=b",
     "https://idp.example/#x", "https://idp.example/?", "javascript:alert(1)", "https://[broken", "https://a b"],
)  # fmt: skip
def test_an_issuer_of_another_kind_is_not_visited(issuer: str, app: GuardedFlask) -> None:
    [finding] = app.extensions["keepline"].providers.examine(issuer)
    assert (finding.ok, finding.subject) == (False, "Address")
    assert "secret" not in finding.sentence


def test_it_is_no_port_scanner_for_networks_of_ones_own() -> None:
    """Open and closed ports, hosts that exist and hosts that do not: one answer, and nothing is connected to."""
    hosts = {"private.example": ["10.0.0.5"], "metadata.example": ["169.254.169.254"], "local.example": ["127.0.0.1"]}

    def resolve(host: str, _port: int) -> list[str]:
        if host not in hosts:
            raise OSError("There is no such host.")
        return hosts[host]

    with listening(replying(b"{}")) as listener:
        fetcher = Fetcher(allow_loopback=False, resolve=resolve)
        issuers = [f"https://{host}{port}" for host in [*hosts, "none.example"] for port in ("", f":{listener.port}")]
        answers = [examine_provider(issuer, fetcher) for issuer in issuers]
        assert listener.connections == 0
    assert all(answer == answers[0] for answer in answers)
    assert not answers[0][-1].ok
    assert "10.0.0.5" not in str(answers)


def test_endpoints_are_not_a_way_around_the_rule() -> None:
    """The keys' address is checked like the issuer's own: a public document can't point the server at the inside."""
    with listening(replying(b'{"keys": []}')) as inner:
        fetcher = Fetcher(allow_loopback=False, resolve=lambda _host, _port: ["127.0.0.1"])
        for address in (f"https://127.0.0.1:{inner.port}/keys", f"https://keys.example:{inner.port}/keys"):
            with pytest.raises(httpx2.HTTPError):
                fetcher.get_json(address)
        assert inner.connections == 0


@pytest.mark.parametrize(("content", "status"), [("hidden words", 200), ("[]", 200), ('{"hidden": 1}', 500)])
def test_what_an_address_answers_is_not_repeated(
    content: str, status: int, app: GuardedFlask, provider: BendableProvider
) -> None:
    provider.discovery_reply = Response(content, status)
    findings = examine(app, provider.issuer)
    assert not findings["Discovery document"].ok
    assert "hidden" not in str(findings)
    assert len(findings) == 2
