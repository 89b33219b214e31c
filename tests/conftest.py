"""Fixtures of all tests: one world a run, emptied of what users stored before each test that uses it."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cast import Cast
from tests.pooler_server import Pooler, pooler_server
from tests.world import World, running_world


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the same tests run against an app that reaches its database through a pooler."""
    parser.addoption("--pooler", action="store_true", help="put PgBouncer between the app and its database")


@pytest.fixture(scope="session")
def _whole_world(request: pytest.FixtureRequest) -> Iterator[World]:
    pooled = request.config.getoption("--pooler")
    # A short path: a socket's may have 103 bytes.
    with tempfile.TemporaryDirectory(prefix="keepline-") as folder, running_world(Path(folder), pooled=pooled) as world:
        yield world


@pytest.fixture(scope="session")
def _whole_cast(_whole_world: World) -> Cast:
    return Cast(_whole_world)


@pytest.fixture
def world(_whole_world: World) -> World:
    """The running parts, with nothing stored for anybody."""
    _whole_world.empty()
    return _whole_world


@pytest.fixture
def cast(world: World, _whole_cast: Cast) -> Cast:  # noqa: ARG001 - asked for so that it is emptied
    """The people, with nothing stored for anybody."""
    return _whole_cast


@pytest.fixture(scope="session")
def pooler(_whole_world: World) -> Iterator[Pooler]:
    """PgBouncer in transaction mode with two connections of the server."""
    with pooler_server(_whole_world.server.address) as opened:
        yield opened


@pytest.fixture(scope="session")
def pooler_of_one(_whole_world: World) -> Iterator[Pooler]:
    """PgBouncer in transaction mode with one connection of the server, so that everybody comes by the same."""
    with pooler_server(_whole_world.server.address, connections=1) as opened:
        yield opened


@pytest.fixture(params=["direct", "pooled"])
def app_line(request: pytest.FixtureRequest, world: World) -> str:
    """How the app's role comes to the database: directly, or through a pooler with one connection for everybody."""
    if request.param == "direct":
        return world.app_conninfo()
    pooler: Pooler = request.getfixturevalue("pooler_of_one")
    return pooler.conninfo("keepline_app")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """In CI a skipped test is a failure: there, everything that a test needs is installed."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, which CI does not allow: {report.longrepr}"


# What takes minutes on a small machine and is left to CI, besides single tests that carry the marker themselves.
_SLOW = (
    "browser/test_page_admin.py",
    "http/test_served.py",
    "pooler/",
    "processes/test_supervisor.py",
    "second_provider/",
    "tenancy/hostile/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow by its place."""
    for item in items:
        if str(item.path.relative_to(Path(__file__).parent)).startswith(_SLOW):
            item.add_marker(pytest.mark.slow)
