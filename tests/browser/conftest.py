"""A real server of the world's app and Debian's chromium; what a page complains of fails its test."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.driving import PATIENCE_MILLISECONDS, NewContext, Site, Watch, sign_in
from tests.chromium import launch_chromium
from tests.world import World


@pytest.fixture(scope="session")
def _running_site(_whole_world: World) -> Iterator[Site]:
    site = Site(_whole_world)
    site.start()
    yield site
    site.stop()


# One a module: two of Playwright's loops can't run in one thread, and other folders' tests drive chromium as well.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture
def site(_running_site: Site, world: World) -> Site:  # noqa: ARG001 - the world is emptied first
    """The running web server, with nothing stored for anybody."""
    return _running_site


@pytest.fixture
def watch() -> Iterator[Watch]:
    """What the test's pages complained of; anything left at the end fails the test."""
    watch = Watch()
    yield watch
    assert watch.complaints == []


@pytest.fixture
def new_context(site: Site, chromium: Browser, watch: Watch) -> Iterator[NewContext]:  # noqa: ARG001 - it must run
    """Open a browser with nothing in it, of 1280 by 800 pixels unless the options say otherwise."""
    contexts: list[BrowserContext] = []

    def open_context(**options: Any) -> BrowserContext:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", **options})
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        watch.follow(context)
        contexts.append(context)
        return context

    yield open_context
    for context in contexts:
        context.close()


@pytest.fixture
def memory_page(new_context: NewContext) -> Page:
    """The owner's memory page, signed in by clicking through."""
    page = new_context().new_page()
    sign_in(page)
    return page


@pytest.fixture
def plain_memory_page(new_context: NewContext) -> Page:
    """The owner's memory page in a browser without JavaScript."""
    page = new_context(java_script_enabled=False).new_page()
    sign_in(page)
    return page
