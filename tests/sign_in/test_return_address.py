"""Where a browser goes after signing in: to the wanted path of our own, and never to another site."""

import string
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from account.rules import AFTER_SIGN_IN, START_PAGE, safe_return_path
from tests.cast import Cast
from tests.world import World

OURS = "https://memory.example.com"
BAD = [
    r"/\offsite.example", "//offsite.example", "////offsite.example", "/\t/offsite.example", "https:offsite.example",
    "javascript:alert(1)", "https://offsite.example/", r"\\offsite.example", "\\/offsite.example",
    "/\n/offsite.example", " //offsite.example", "\x01//offsite.example", "settings", "?x", "#y",
    "@offsite.example", "/\r\nSet-Cookie: a=b", "/a\tb", "/a\rb", "/a\x01b", "/a\x7fb", "/a b",
]  # fmt: skip
GOOD = ["/settings?tab=memory", "/notes/5#end", "/", "/a/..//b", "/search?q=%5C%09&next=//x", "/caf%C3%A9?a=b&c=d#e"]


def as_a_browser_reads_it(address: str) -> str:
    """What the URL standard does before it parses: outer controls and blanks go, tabs and breaks, and \\ is /."""
    address = address.strip("".join(map(chr, range(0x21))))
    for dropped in "\t\n\r":
        address = address.replace(dropped, "")
    path, mark, rest = address.partition("?")
    return path.replace("\\", "/") + mark + rest


def leads_to(address: str) -> tuple[str, str]:
    read = as_a_browser_reads_it(address)
    # Any number of slashes after an https origin is the start of a host.
    if read.startswith("//"):
        read = "//" + read.lstrip("/")
    parts = urlsplit(urljoin(f"{OURS}/login/callback", read))
    return parts.scheme, parts.netloc


@pytest.mark.parametrize("wanted", BAD)
def test_an_address_elsewhere_leads_to_the_start_page(wanted: str) -> None:
    assert safe_return_path(wanted) == START_PAGE


@pytest.mark.parametrize("wanted", GOOD)
def test_a_path_of_our_own_is_kept_with_its_query_and_fragment(wanted: str) -> None:
    assert safe_return_path(wanted) == wanted


def test_without_a_wish_the_memory_page_follows() -> None:
    assert safe_return_path(None) == safe_return_path("") == AFTER_SIGN_IN


@given(st.text(st.one_of(st.sampled_from("/\\:@?#.%[]\t\n\r \x00\x7f" + string.ascii_letters), st.characters())))
def test_whatever_is_wanted_stays_on_our_origin(wanted: str) -> None:
    assert leads_to(safe_return_path(wanted)) == ("https", "memory.example.com")


@given(st.text("/\\:.\t\n\r @a", max_size=8))
def test_whatever_slashes_are_wanted_stays_on_our_origin(wanted: str) -> None:
    assert leads_to(safe_return_path(wanted)) == ("https", "memory.example.com")


@pytest.mark.parametrize("wanted", [*BAD, *GOOD])
def test_the_sign_in_follows_the_rule(wanted: str, world: World, cast: Cast) -> None:
    browser = world.app.test_client()
    reply = browser.get(cast.owner.answer_of_provider(browser, "acme", wanted))
    assert reply.status_code == 302
    assert reply.headers["Location"] == (wanted if wanted in GOOD else START_PAGE)


@pytest.mark.parametrize("wanted", BAD)
def test_choosing_a_look_follows_the_rule(wanted: str, world: World) -> None:
    reply = world.app.test_client().post("/theme", data={"theme": "dark", "next": wanted})
    assert (reply.status_code, reply.headers["Location"]) == (303, START_PAGE)
