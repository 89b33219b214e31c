"""Fixtures of all tests: one world a run, emptied of what users stored before each test that uses it."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cast import Cast
from tests.world import World, running_world


@pytest.fixture(scope="session")
def _whole_world() -> Iterator[World]:
    # A short path: a socket's may have 103 bytes.
    with tempfile.TemporaryDirectory(prefix="keepline-") as folder, running_world(Path(folder)) as world:
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


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """In CI a skipped test is a failure: there, everything that a test needs is installed."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, which CI does not allow: {report.longrepr}"
