"""The bendable provider, straight again before each test, and an app that has not met it yet."""

from collections.abc import Iterator

import pytest
from bendable_provider import BendableProvider, running_provider

from tenancy.guards import GuardedFlask
from tests.clocked import ClockedApp, clocked_app
from tests.world import World


@pytest.fixture(scope="session")
def _provider(_whole_world: World) -> Iterator[BendableProvider]:
    with running_provider(_whole_world) as provider:
        yield provider


@pytest.fixture
def provider(world: World, _provider: BendableProvider) -> BendableProvider:  # noqa: ARG001 - emptied first
    _provider.straighten()
    return _provider


@pytest.fixture
def app(world: World) -> Iterator[GuardedFlask]:
    """An app of its own, which remembers no keys and no discovery document."""
    with world.another_app() as fresh:
        yield fresh


@pytest.fixture
def clocked(world: World) -> Iterator[ClockedApp]:
    """An app of its own whose real time the test moves."""
    with clocked_app(world) as clocked:
        yield clocked
