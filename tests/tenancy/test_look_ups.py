"""Before an identity is known, the database answers only who holds the key, one narrow question at a time."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import psycopg
import pytest

from tests.cast import Cast
from tests.tenancy.app_role import REJECTED, Connection, app_connection, signer_of
from tests.world import World

FIELDS = {
    "find_sign_in_provider": {"slug": "acme"},
    "readiness": {},
    "find_token_providers": {"issuer": "?"},
    "find_provider": {"org_id": "?", "provider_id": "?"},
    "find_client": {"org_id": "?", "client_id": "demo-console"},
    "resolve_user": {},
    "find_session": {"digest": "00" * 32},
    "start_session": {},
    "begin_renewal": {"digest": "00" * 32, "older_than": 600},
    "renew_session": {"digest": "00" * 32, "roles": 3, "team_ids": [], "led_team_ids": []},
    "forget_refresh_token": {"digest": "00" * 32},
    "end_session": {"digest": "00" * 32},
    "sign_out_by_provider": {"org_id": "?", "provider_id": "?", "token_id": "x"},
    "keep_sign_in": {"state_digest": "00" * 32, "browser_digest": "01" * 32, "sealed": "02"},
    "take_sign_in": {"state_digest": "00" * 32, "browser_digest": "01" * 32},
}
Ticket = Callable[[World, Cast, str], str | None]


def _good(world: World, function: str, shift: timedelta = timedelta(0)) -> str:
    return signer_of(world, shift).ticket(function, FIELDS[function])


BAD: dict[str, Ticket] = {
    "none": lambda *_: None,
    "empty": lambda *_: "",
    "a word": lambda *_: "acme",
    "an unknown key": lambda *_: "0" * 64 + "kt1" + "--" + "tomorrow..{",
    "another purpose": lambda world, _, function: signer_of(world).ticket(f"not_{function}", FIELDS[function]),
    "expired": lambda world, _, function: _good(world, function, -timedelta(seconds=60)),
    "altered MAC": lambda world, _, function: "0" * 64 + _good(world, function)[64:],
    "altered body": lambda world, _, function: _good(world, function)[:-1] + ', "roles": 3}',
    "truncated": lambda world, _, function: _good(world, function)[:-1],
    "extended": lambda world, _, function: _good(world, function) + " ",
    "upper case": lambda world, _, function: _good(world, function).upper(),
    "an identity": lambda world, cast, _: signer_of(world).identity_token(cast.owner.identity),
    "an identity of all roles and teams": lambda world, cast, _: signer_of(world).identity_token(cast.lead.identity),
}


@pytest.fixture
def connection(world: World) -> Iterator[Connection]:
    with app_connection(world) as opened:
        yield opened


def _call(connection: Connection, function: str, ticket: str | None) -> list[tuple[object, ...]]:
    return connection.execute(f"SELECT * FROM tenancy.{function}(%s)".encode(), (ticket,)).fetchall()


def test_every_function_that_takes_a_ticket_is_tried_here(world: World) -> None:
    functions = world.rows(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'tenancy'::regnamespace AND proargnames[1] = 'ticket'"
    )
    assert {name for (name,) in functions} == set(FIELDS)


@pytest.mark.parametrize("function", FIELDS)
def test_without_a_valid_ticket_nothing_is_answered(
    world: World, cast: Cast, connection: Connection, function: str
) -> None:
    for name, ticket in BAD.items():
        try:
            answer = _call(connection, function, ticket(world, cast, function))
        except REJECTED:
            continue
        pytest.fail(f"{function} answered {answer} to a ticket that is {name}")
    assert world.rows("SELECT count(*) FROM tenancy.sign_ins WHERE sealed = '\\x02'") == [(0,)]


def test_a_valid_ticket_is_answered(world: World, connection: Connection) -> None:
    [provider] = _call(connection, "find_sign_in_provider", _good(world, "find_sign_in_provider"))
    assert provider[1] == "acme"
    for identity_too in ("keep_sign_in", "take_sign_in"):
        assert len(_call(connection, identity_too, _good(world, identity_too))) == 1


def test_what_one_org_registers_is_not_found_by_another(world: World, cast: Cast) -> None:
    """Both orgs have a client of this id; a third has none."""
    binder, org_id = world.services.binder, cast.owner.identity.org_id
    assert len(binder.look_up("find_client", org_id=str(org_id), client_id="demo-console")) == 1
    assert binder.look_up("find_client", org_id=str(cast.owner.user_id), client_id="demo-console") == []
    assert binder.look_up("find_sign_in_provider", slug="acm_") == []
    assert binder.look_up("find_sign_in_provider", slug="acme%") == []


@pytest.mark.parametrize(
    "table",
    [
        "app.token_audiences", "tenancy.signing_keys", "tenancy.sign_ins", "tenancy.clock_shift",
        "tenancy.applied",
    ],
)  # fmt: skip
def test_the_app_reads_no_table_behind_the_look_ups(connection: Connection, table: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(f"SELECT count(*) FROM {table}".encode())


def test_the_app_lists_no_people(world: World, cast: Cast, connection: Connection) -> None:
    everybody = {person.user_id for _, person in cast}
    assert connection.execute("SELECT id FROM app.users").fetchall() == []
    with world.services.binder.bound(cast.admin.identity) as bound:
        assert bound.exec_driver_sql("SELECT id FROM app.users").all() == [(cast.admin.user_id,)]
    assert len(everybody) == 7
    assert {found for (found,) in world.rows("SELECT id FROM app.users")} >= everybody


def test_a_sessions_secret_is_written_and_never_read(cast: Cast, connection: Connection) -> None:
    assert cast.owner.browser().get("/settings/memory").status_code == 200
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT digest FROM app.web_sessions")
