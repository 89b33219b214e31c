"""Debian's chromium, as every browser test starts it."""

from playwright.sync_api import Browser, Playwright

_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def launch_chromium(playwright: Playwright) -> Browser:
    """Start a browser that asks nothing of the network by itself."""
    return playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(_OPTIONS))
