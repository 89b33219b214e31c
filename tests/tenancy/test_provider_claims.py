"""A token can never belong to two orgs: issuer and audience are told apart in one way, over all orgs."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from uuid import UUID

import psycopg
import pytest

from demo.folder import DemoFolder
from demo.seed import seed_demo
from tenancy.clients import Kind
from tenancy.database import operator_login
from tenancy.errors import SetupError
from tenancy.migrate import as_maintainer
from tenancy.registration import ProviderSettings, add_org, connect_provider, find_org, register_client
from tests.world import World

ISSUER = "https://idp.example/shared"
Connection = psycopg.Connection[Any]
_numbers = count(1)


def _settings(claim: str = "", audience: str = "keepline", issuer: str = ISSUER) -> ProviderSettings:
    name, _, value = claim.partition("=")
    return ProviderSettings(issuer, audience, "web", None, claim_name=name, claim_value=value)


@pytest.fixture
def act(world: World) -> Iterator[Callable[[Callable[[Connection], Any]], Any]]:
    """Run something as the operator's commands do; what was made is removed at the end."""
    yield lambda work: as_maintainer(operator_login(world.settings), work)
    with world.superuser() as connection:
        connection.execute("DELETE FROM app.orgs WHERE slug LIKE 'claims-%'")
        connection.execute("DELETE FROM app.token_audiences WHERE issuer LIKE 'https://idp.example/%'")


def _connect(act: Any, world: World, settings: ProviderSettings) -> UUID:
    """Make an org with this provider and return its id."""

    def work(connection: Connection) -> UUID:
        org_id = add_org(connection, f"claims-{next(_numbers)}", "Org", world.clock.now())
        connect_provider(connection, org_id, settings, world.clock.now())
        return org_id

    org_id: UUID = act(work)
    return org_id


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (_settings(), _settings(), "belong to another org already"),
        (_settings("tid=a"), _settings("tid=a"), "belong to another org already"),
        (_settings(), _settings("tid=a"), "told apart by another claim, or by none"),
        (_settings("tid=a"), _settings(), "told apart by another claim, or by none"),
        (_settings("tid=a"), _settings("hd=a"), "belong to another org already"),
        (_settings("tid=a"), _settings("hd=b"), "told apart by another claim, or by none"),
    ],
)
def test_two_orgs_that_one_token_could_fit_are_refused(
    world: World, act: Any, first: ProviderSettings, second: ProviderSettings, sentence: str
) -> None:
    _connect(act, world, first)
    with pytest.raises(SetupError, match=sentence):
        _connect(act, world, second)
    assert world.rows("SELECT count(*) FROM app.orgs WHERE slug LIKE 'claims-%%'") == [(1,)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (_settings("tid=a"), _settings("tid=b")),
        (_settings("tid=a"), _settings("tid=A")),
        (_settings(audience="one"), _settings(audience="two")),
        (_settings(audience="one"), _settings("tid=a", audience="two")),
        (_settings(), _settings(issuer=ISSUER + "/")),
    ],
)
def test_two_orgs_that_tokens_tell_apart_are_connected(
    world: World, act: Any, first: ProviderSettings, second: ProviderSettings
) -> None:
    orgs = {_connect(act, world, first), _connect(act, world, second)}
    found = world.services.binder.look_up("find_token_providers", issuer=ISSUER)
    assert len(found) == (1 if first.issuer != second.issuer else 2)
    assert {row[0] for row in found} <= orgs
    assert all(row[9] is None for row in found)  # the client secret is for signing in alone


@pytest.mark.parametrize("settings", [_settings("tid="), _settings("=a"), _settings(audience="")])
def test_half_a_claim_and_no_audience_are_refused(world: World, act: Any, settings: ProviderSettings) -> None:
    with pytest.raises(SetupError, match="a claim needs both a name and a value"):
        _connect(act, world, settings)


@pytest.mark.parametrize("slug", ["", "Claims", "-claims", "claims/x", "claims x", "c" * 64, "кlaims"])
def test_a_bad_short_name_is_refused(world: World, act: Any, slug: str) -> None:
    with pytest.raises(SetupError, match="A short name has up to 63 small letters"):
        act(lambda connection: add_org(connection, slug, "Org", world.clock.now()))


def test_a_short_name_is_taken_once(world: World, act: Any) -> None:
    with pytest.raises(SetupError, match="There is an org with the short name acme already"):
        act(lambda connection: add_org(connection, "acme", "Another", world.clock.now()))


@pytest.mark.parametrize(
    ("kind", "scopes"),
    [(Kind.ASSISTANT, {"memory:manage"}), (Kind.ASSISTANT, {"memory:read", "org:admin"}), (Kind.USER, {"everything"}),
     (Kind.USER, set())],
)  # fmt: skip
def test_a_client_holds_what_its_kind_may(world: World, act: Any, kind: Kind, scopes: set[str]) -> None:
    def work(connection: Connection) -> None:
        org_id = find_org(connection, "acme")
        assert org_id is not None
        register_client(connection, org_id, "claims-client", "Client", kind, scopes, world.clock.now())

    with pytest.raises(SetupError, match=f"A client of the kind {kind} can hold"):
        act(work)
    assert world.rows("SELECT count(*) FROM app.clients WHERE client_id = 'claims-client'") == [(0,)]


def test_the_settings_page_s_own_id_is_no_client(world: World) -> None:
    def register(connection: psycopg.Connection[Any]) -> None:
        org_id = find_org(connection, "acme")
        assert org_id is not None
        register_client(connection, org_id, "web", "Web", Kind.USER, ["memory:read"], world.clock.now())

    with pytest.raises(SetupError, match="settings page"):
        as_maintainer(operator_login(world.settings), register)


def test_the_demo_does_not_open_a_database_that_it_did_not_make(world: World) -> None:
    """Another demo's folder stands for any other maker: acme is there, and not by this identity provider."""
    other = DemoFolder(world.demo.provider_port + 1, "s" * 32)
    before = world.rows("SELECT count(*) FROM app.providers")
    with pytest.raises(SetupError, match="did not make"):
        as_maintainer(
            operator_login(world.settings),
            lambda connection: seed_demo(connection, other, world.services.sessions.box, world.clock.now()),
        )
    assert world.rows("SELECT count(*) FROM app.providers") == before
