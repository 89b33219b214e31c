"""Keys of a provider: which are used, which are passed over, and how often they are read again."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from bendable_provider import BendableProvider, published_keys
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from tenancy.discovery import KEYS_AT_MOST, keys_from
from tenancy.guards import GuardedFlask
from tests.clocked import ClockedApp

BLOCK = "/v1/memory/block"
OTHER = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)


def read_block(app: GuardedFlask, token: str) -> int:
    return app.test_client().get(BLOCK, headers={"Authorization": f"Bearer {token}"}).status_code


def public(key: RSAKey | ECKey | OKPKey, **changes: Any) -> dict[str, Any]:
    entry = {**key.as_dict(private=False), **changes}
    return {name: value for name, value in entry.items() if value is not None}


def _rsa_key(bits: int) -> RSAKey:
    raw = rsa.generate_private_key(65537, bits)
    return RSAKey(raw, raw, {"kid": f"{bits} bits"})  # not by import, where the library warns


JUNK: list[Any] = [
    None, 5, "key", [], {}, {"kty": "RSA"}, {"kty": "RSA", "n": "!", "e": "AQAB"}, {"kty": ["RSA"]},
    {"kty": "RSA", "n": 5, "e": 5}, {"kty": "AKP", "alg": "ML-DSA-44", "pub": "AA"}, {"kty": "EC", "crv": "P-256"},
    {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}, {"kty": "OKP", "crv": "Ed25519", "x": "AA"},
    public(OTHER, use="tls"), public(OTHER, key_ops="verify"), public(OTHER, key_ops=["encrypt"], use=None),
    public(OTHER, kid=7), public(OTHER, n="A" * 400_000),
]  # fmt: skip


@pytest.mark.parametrize("entry", JUNK, ids=lambda entry: repr(entry)[:60])
def test_an_entry_that_cannot_be_used_is_passed_over_and_the_others_count(
    entry: Any, provider: BendableProvider, app: GuardedFlask
) -> None:
    assert keys_from({"keys": [entry]}) == ()
    provider.published = [entry, *provider.published, entry]
    assert read_block(app, provider.access_token()) == 200


def test_secret_and_private_keys_are_no_keys_to_check_with() -> None:
    assert keys_from({"keys": [OctKey.generate_key(256).as_dict(private=True)]}) == ()
    assert keys_from({"keys": [OTHER.as_dict(private=True)]}) == ()


def test_keys_of_each_algorithm_that_counts_are_used_and_those_of_others_not() -> None:
    usable = [public(OTHER), public(ECKey.generate_key("P-256")), public(OKPKey.generate_key("Ed25519"))]
    others = [public(ECKey.generate_key(curve)) for curve in ("P-384", "P-521", "secp256k1")]
    others += [public(OKPKey.generate_key(curve)) for curve in ("Ed448", "X25519")]
    assert len(keys_from({"keys": usable + others})) == 3
    assert len(keys_from({"keys": [public(OTHER)] * 1_000})) == KEYS_AT_MOST


def test_an_rsa_key_under_2048_bits_is_not_used(provider: BendableProvider, app: GuardedFlask) -> None:
    weak = _rsa_key(2047)
    assert keys_from({"keys": [public(weak)]}) == keys_from({"keys": [public(_rsa_key(1024))]}) == ()
    provider.published = [*provider.published, public(weak)]
    assert read_block(app, provider.access_token(key=weak)) == 401
    assert read_block(app, provider.access_token()) == 200


def test_a_key_for_encryption_checks_no_signature(provider: BendableProvider, app: GuardedFlask) -> None:
    assert keys_from({"keys": [public(OTHER, use="enc")]}) == ()
    provider.published = [*provider.published, public(OTHER, use="enc")]
    assert read_block(app, provider.access_token(key=OTHER)) == 401
    assert read_block(app, provider.access_token()) == 200


def test_a_key_for_another_algorithm_checks_no_signature(provider: BendableProvider, app: GuardedFlask) -> None:
    provider.published = [*provider.published, public(OTHER, alg="PS256")]
    assert read_block(app, provider.access_token(key=OTHER)) == 401


def test_a_token_without_key_id_counts_while_there_is_one_key_it_can_be_of(
    provider: BendableProvider, clocked: ClockedApp
) -> None:
    """OpenID Connect Core 10.1: with several keys, the token must name one."""
    nameless = public(provider.key, kid=None)
    for others, status in (
        ([public(ECKey.generate_key("P-256"))], 200),
        ([public(OTHER, kid=None, alg="PS256")], 200),
        ([public(OTHER, kid=None)], 401),
    ):
        provider.published = [nameless, *others]
        clocked.move(3_601)
        token = provider.access_token({"kid": None}, sub=f"u-{status}-{len(others)}", exp=4_000_000_000)
        assert read_block(clocked.app, token) == status


def test_the_right_key_of_several_is_chosen(provider: BendableProvider, app: GuardedFlask) -> None:
    provider.published = published_keys(OTHER, provider.key)
    assert read_block(app, provider.access_token()) == 200
    assert read_block(app, provider.access_token({"kid": OTHER.kid}, sub="u-8")) == 401


@pytest.mark.parametrize(
    "header",
    [
        {"jwk": OTHER.as_dict(private=False)},
        {"jku": "https://attacker.example/keys"},
        {"x5u": "https://attacker.example/certificate"},
        {"x5c": ["AA"]},
        {"x5t": "AA"},
        {"made-up": {"of": "a provider's own"}},
        {"cty": "x" * 600},
    ],
    ids=lambda header: next(iter(header)),
)
def test_a_key_in_the_header_changes_nothing(
    header: dict[str, Any], provider: BendableProvider, app: GuardedFlask
) -> None:
    provider.id_header = header
    assert provider.sign_in(app)[1].status_code == 302
    provider.id_key = OTHER
    for named in ({}, {"kid": provider.key.kid}):
        provider.id_header = {**header, **named}
        assert provider.sign_in(app)[1].status_code == 400
        assert read_block(app, provider.access_token({**header, **named}, key=OTHER)) == 401


@pytest.mark.parametrize(
    "header",
    [
        {"b64": False, "crit": ["b64"]},
        {"b64": False},
        {"b64": True, "crit": ["b64"]},
        {"crit": ["exp"], "exp": 1},
        {"crit": []},
        {"crit": 5},
        {"crit": "b64"},
        {"alg": "none"},
        {"alg": "None"},
        {"alg": "HS256"},
        {"alg": "RS512"},
        {"alg": "ES256"},
        {"alg": "EdDSA"},
        {"alg": "RSA-OAEP"},
        {"alg": ["RS256"]},
        {"alg": {"RS256": 1}},
        {"alg": 5},
        {"alg": ""},
        {"alg": None},
        {"kid": 5},
        {"kid": ["x"]},
        {"kid": "x" * 9_000},
    ],
    ids=repr,
)
def test_a_header_that_asks_for_something_else_is_refused(
    header: dict[str, Any], provider: BendableProvider, app: GuardedFlask
) -> None:
    assert read_block(app, provider.access_token(header)) == 401
    provider.id_header = header
    assert provider.sign_in(app)[1].status_code == 400
    provider.id_header = {}
    assert provider.sign_in(app)[1].status_code == 302


def test_made_up_key_ids_make_the_keys_be_read_once_in_ten_seconds(
    provider: BendableProvider, clocked: ClockedApp
) -> None:
    def flood() -> set[int]:
        tokens = [provider.access_token({"kid": f"made-up-{number}"}, key=OTHER) for number in range(16)]
        with ThreadPoolExecutor(8) as pool:
            return set(pool.map(lambda token: read_block(clocked.app, token), tokens))

    assert read_block(clocked.app, provider.access_token()) == 200
    assert provider.keys_asked == 1
    assert flood() == {401}
    assert provider.keys_asked == 1
    clocked.move(11)
    assert flood() == {401}
    assert provider.keys_asked == 2
    assert read_block(clocked.app, provider.access_token(sub="u-8")) == 200


def test_a_rotation_under_load_refuses_nobody(provider: BendableProvider, clocked: ClockedApp) -> None:
    """All first requests with the new key come at once; the keys are read once, and each request is served."""
    assert read_block(clocked.app, provider.access_token()) == 200
    provider.published = published_keys(OTHER, provider.key)
    clocked.move(11)
    tokens = [provider.access_token(key=OTHER, sub=f"u-{number}") for number in range(12)]
    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(lambda token: read_block(clocked.app, token), tokens))
    assert statuses == [200] * 12
    assert provider.keys_asked == 2


def test_a_key_that_is_gone_is_not_believed_for_over_an_hour(provider: BendableProvider, clocked: ClockedApp) -> None:
    assert read_block(clocked.app, provider.access_token()) == 200
    provider.published = published_keys(OTHER)
    clocked.move(3_601)
    assert read_block(clocked.app, provider.access_token(exp=4_000_000_000)) == 401
    assert read_block(clocked.app, provider.access_token(exp=4_000_000_000, key=OTHER)) == 200
