"""Rules of signing in: where a browser may be sent afterwards."""

from urllib.parse import urlsplit

START_PAGE = "/"
AFTER_SIGN_IN = "/settings/memory"


def safe_return_path(wanted: str | None) -> str:
    """Return the wanted address when it is a path of our own, the memory page when none is wanted, else the start.

    Browsers read a backslash as a slash and drop tabs and line breaks, so that such an address could lead to
    another site; it is not followed.
    """
    if not wanted:
        return AFTER_SIGN_IN
    if not wanted.startswith("/") or wanted.startswith("//"):
        return START_PAGE
    if "\\" in wanted or any(character <= " " or character == "\x7f" for character in wanted):
        return START_PAGE
    parts = urlsplit(wanted)
    return START_PAGE if parts.scheme or parts.netloc else wanted
