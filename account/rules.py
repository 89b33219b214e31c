"""Rules of signing in: where a browser may be sent afterwards."""

from urllib.parse import urlsplit

AFTER_SIGN_IN = "/settings/memory"


def safe_return_path(wanted: str | None, otherwise: str = AFTER_SIGN_IN) -> str:
    """Return the wanted address when it is a path of our own, else the other one.

    Browsers read a backslash as a slash and drop tabs and line breaks, so that such an address could lead to
    another site; it is not followed.
    """
    if not wanted or not wanted.startswith("/") or wanted.startswith("//"):
        return otherwise
    if "\\" in wanted or any(character <= " " or character == "\x7f" for character in wanted):
        return otherwise
    parts = urlsplit(wanted)
    return otherwise if parts.scheme or parts.netloc else wanted
