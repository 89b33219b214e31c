"""The scene of every attack."""

import pytest

from tests.cast import Cast
from tests.tenancy.hostile.attackers import OTHERS, SECRET, Scene
from tests.world import World


@pytest.fixture
def scene(world: World, cast: Cast) -> Scene:
    """The owner's block holds the secret word; the others have blocks without it."""
    assert cast.owner.program.write(f"{SECRET}\nmine alone").status_code == 200
    for name in OTHERS:
        if name != "nobody":
            assert getattr(cast, name).program.write("A line of my own").status_code == 200
    return Scene(world, cast)
