"""Both issuers of the certified provider; where Node.js is missing, what needs them is skipped."""

from collections.abc import Iterator

import pytest
from node_provider import NotInstalledError, install
from two_issuers import Issuers, running_issuers

from tests.world import World


@pytest.fixture(scope="session")
def _issuers(_whole_world: World) -> Iterator[Issuers]:
    try:
        install()
    except NotInstalledError as error:
        pytest.skip(str(error))
    with running_issuers(_whole_world) as issuers:
        yield issuers


@pytest.fixture
def issuers(world: World, _issuers: Issuers) -> Issuers:  # noqa: ARG001 - emptied first
    """Both issuers, with nothing stored for anybody."""
    return _issuers
