"""The accessors return what was signed, for any identity."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenancy.identity import Identity, Role, Signer
from tenancy.roles import TEAMS_AT_MOST
from tests.tenancy.app_role import Connection, app_connection, bind, signer_of
from tests.world import World

ACCESSORS = "SELECT tenancy.org_id(), tenancy.user_id(), tenancy.roles(), tenancy.team_ids(), tenancy.led_team_ids()"
TEAMS = st.lists(st.uuids(), max_size=8).map(tuple)
IDENTITIES = st.builds(
    Identity,
    org_id=st.uuids(),
    user_id=st.uuids(),
    roles=st.sampled_from([Role.NONE, Role.REVIEWER, Role.ADMIN, Role.REVIEWER | Role.ADMIN]),
    team_ids=TEAMS,
    led_team_ids=TEAMS,
)


@pytest.fixture
def connection(world: World) -> Iterator[Connection]:
    with app_connection(world) as opened:
        yield opened


def _accessed(connection: Connection, token: str | None) -> tuple[Any, ...]:
    with connection.transaction():
        bind(connection, token)
        row: tuple[Any, ...] | None = connection.execute(ACCESSORS).fetchone()
    assert row is not None
    return row


def _of(signer: Signer, connection: Connection, identity: Identity) -> Identity:
    token = signer.identity_token(identity, connection.info.backend_pid)
    org_id, user_id, roles, teams, led_teams = _accessed(connection, token)
    return Identity(org_id, user_id, Role(roles), tuple(teams), tuple(led_teams))


@given(identity=IDENTITIES)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_signed_comes_back(world: World, connection: Connection, identity: Identity) -> None:
    assert _of(signer_of(world), connection, identity) == identity


def test_as_many_teams_as_a_person_may_have_come_back(world: World, connection: Connection) -> None:
    teams = tuple(UUID(int=number) for number in range(TEAMS_AT_MOST))
    identity = Identity(UUID(int=1), UUID(int=2), Role.ADMIN, teams, teams)
    assert _of(signer_of(world), connection, identity) == identity


def test_nobody_has_nothing(connection: Connection) -> None:
    assert _accessed(connection, "") == (None,) * 5
    assert connection.execute(ACCESSORS).fetchone() == (None,) * 5
