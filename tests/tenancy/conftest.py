"""The scene of the matrix: everybody has rows, and the owner has one in every table."""

from collections.abc import Iterator

import pytest
from sqlalchemy import insert

from tenancy.tables import org_policies
from tests.cast import Cast
from tests.tenancy.matrix_cells import Matrix
from tests.world import World


@pytest.fixture
def matrix(world: World, cast: Cast) -> Iterator[Matrix]:
    """The actors, with a block and a session for each person, and a policy of the owner's org."""
    for _, person in cast:
        assert person.program.write("A line of my own").status_code == 200
        with world.superuser() as superuser:
            superuser.execute(
                "INSERT INTO app.web_sessions (org_id, user_id, digest, roles, team_ids, led_team_ids) "
                "VALUES (%s, %s, %s, 0, '{}', '{}')",
                (person.identity.org_id, person.user_id, person.user_id.bytes * 2),
            )
    with world.services.binder.bound(cast.admin.identity) as connection:
        connection.execute(insert(org_policies).values(updated_at=world.clock.now()))
    opened = Matrix(world, cast)
    yield opened
    opened.close()
