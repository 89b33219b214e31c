"""The site under test and the hands that drive it: a web server that can be taken away, and what people do on pages."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Response, expect
from werkzeug.serving import BaseWSGIServer, make_server

from tests.world import WEB_PORT, World

ADDRESS = f"http://127.0.0.1:{WEB_PORT}"
MEMORY = f"{ADDRESS}/settings/memory"
PATIENCE_MILLISECONDS = 10_000

NewContext = Callable[..., BrowserContext]

expect.set_options(timeout=PATIENCE_MILLISECONDS)


@dataclass
class Watch:
    """What pages complained of: errors on the console, broken policies, exceptions, files that are missing.

    An answer that is an error page is no complaint: chromium reports each as a failed load, and tests ask for them.
    """

    complaints: list[str] = field(default_factory=list)

    def follow(self, context: BrowserContext) -> None:
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        context.on("response", self._see)

    def forgive(self, words: str) -> None:
        """Drop the complaints that a test caused on purpose; it must have caused one."""
        kept = [complaint for complaint in self.complaints if words not in complaint]
        assert len(kept) < len(self.complaints), f"nothing complained of {words!r}: {self.complaints}"
        self.complaints[:] = kept

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        if not message.text.startswith("Failed to load resource: the server responded with a status of"):
            self.complaints.append(message.text)

    def _see(self, response: Response) -> None:
        if response.status >= 400 and response.request.resource_type not in ("document", "fetch"):
            self.complaints.append(f"{response.status} for {response.url}")


@dataclass
class Site:
    """The running web server, which can be taken away and brought back."""

    world: World
    _server: BaseWSGIServer | None = None
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._server = make_server("127.0.0.1", WEB_PORT, self.world.app, threaded=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        assert self._server is not None
        assert self._thread is not None
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @contextmanager
    def down(self) -> Iterator[None]:
        """Take the server away for a while."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    @contextmanager
    def database_away(self) -> Iterator[None]:
        """Let the app's role no longer into the database for a while."""
        with self.world.superuser() as connection:
            connection.execute("ALTER ROLE keepline_app NOLOGIN")
            try:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'keepline_app'"
                )
                yield
            finally:
                connection.execute("ALTER ROLE keepline_app LOGIN")


def sign_in(page: Page, login_name: str = "member", org: str = "acme", wanted: str = "/settings/memory") -> None:
    """Sign one of the cast in as people do: short name, the provider's page, the person."""
    page.goto(f"{ADDRESS}{wanted}")
    page.get_by_label("Your company’s short name").fill(org)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name=re.compile(rf"\b{login_name}\b")).first.click()
    page.wait_for_url(lambda url: urlsplit(url).path == urlsplit(wanted).path)


def draft(page: Page) -> Locator:
    """The field that holds the memory text."""
    return page.locator("#text")


def save(page: Page) -> None:
    page.locator("#save-button").click()


def remember_this_load(page: Page) -> None:
    """Mark the page's window, so that `is_same_load` tells a reload from a page that stayed."""
    page.evaluate("() => { window.markOfThisLoad = true; }")


def is_same_load(page: Page) -> bool:
    return bool(page.evaluate("() => window.markOfThisLoad === true"))
