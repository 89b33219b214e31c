"""The page's own cleaning and counting (static/text.js) agree with the server's on every input."""

import json
import random
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from memory.text import rules
from memory.text.rules import clean, count
from tests.chromium import launch_chromium

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parents[2] / "static"
SEED = 20_240_229
TEXTS = 6_000


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Keep the test's output to its results."""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page of real chromium on which the module can be imported from its own origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(STATIC)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with sync_playwright() as playwright:
            browser = launch_chromium(playwright)
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{server.server_port}/text.js")
            yield page
            browser.close()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def edges() -> list[str]:
    """The first and last character of every range of the table, and the ones just outside."""
    spans = [span.split("-") for lines in rules.CODE_POINTS.values() for span in " ".join(lines).split()]
    codes = {int(bound, 16) + step for span in spans for bound in span for step in (-1, 0, 1)}
    return [chr(code) for code in sorted(codes) if 0 <= code <= 0x10FFFF]


def generated_texts() -> list[str]:
    """Texts rich in what cleaning decides about: edges of the table, conditional characters, flags, pairs."""
    chance = random.Random(SEED)  # noqa: S311 - the same texts in every run, not a secret
    at_edges = edges()
    conditional = [char for char in at_edges if char in rules._KIND]
    names = (
        "joining letters",
        "viramas",
        "Mongolian letters",
        "ideographs",
        "pictographs",
        "skin tones",
        "keycap",
    )
    neighbours = [char for char in at_edges if any(rules._is_in(name, char) for name in (*names, "keycap bases"))]
    tags = [chr(0xE0000 + code) for code in (*b"gbengsctwlsx", 0x7F)]
    flags = ["\U0001f3f4", *map(rules._flag, (*rules.FLAGS, "usca"))]
    plain = [*"ab \n", "\r\n", "\r", "я", "א", "ا", "\ud83d", "\ude00", "\udb40", "\udc67"]
    pools = [at_edges, conditional, conditional, neighbours, neighbours, tags, flags, plain, plain]
    return ["".join(chance.choice(chance.choice(pools)) for _ in range(chance.randrange(24))) for _ in range(TEXTS)]


def code_points(text: str) -> list[int]:
    return [ord(char) for char in text]


def in_page(page: Page, texts: list[str]) -> list[list[Any]]:
    """Clean and count in the page; code points both ways, so that lone surrogates survive the journey."""
    answers = page.evaluate(
        """async (texts) => {
            const { clean, count } = await import("/text.js");
            return JSON.stringify(JSON.parse(texts).map((codes) => {
                const text = codes.map((code) => String.fromCodePoint(code)).join("");
                return [Array.from(clean(text), (character) => character.codePointAt(0)), count(text)];
            }));
        }""",
        json.dumps([code_points(text) for text in texts]),
    )
    return list(json.loads(answers))


def test_page_and_server_hold_the_same_table(page: Page) -> None:
    table, flags = page.evaluate(
        'async () => { const text = await import("/text.js"); return [text.CODE_POINTS, text.FLAGS]; }'
    )
    assert {name: tuple(lines) for name, lines in table.items()} == rules.CODE_POINTS
    assert tuple(flags) == rules.FLAGS


def test_page_and_server_agree_on_thousands_of_difficult_texts(page: Page) -> None:
    texts = generated_texts()
    assert sum(any(char in rules._KIND for char in clean(text)) for text in texts) > TEXTS / 10
    for text, answer in zip(texts, in_page(page, texts), strict=True):
        assert answer == [code_points(clean(text)), count(text)], ascii(text)


def test_page_and_server_agree_on_every_edge_of_the_table_between_every_kind_of_neighbour(page: Page) -> None:
    neighbours = [
        "",
        "a",
        "\n",
        "1",
        "\u0628",
        "\u05d0",
        "\u0915",
        "\u094d",
        "\u1820",
        "\u845b",
        "\u2764",
        "\u20e3",
    ]
    joined = [f"{before}{char}{after}" for char in edges() for before in neighbours for after in neighbours]
    texts = ["|".join(joined[start : start + 144]) for start in range(0, len(joined), 144)]
    for text, answer in zip(texts, in_page(page, texts), strict=True):
        assert answer == [code_points(clean(text)), count(text)], ascii(text)


def test_the_page_counts_code_points_not_utf_16_units(page: Page) -> None:
    assert [counted for _, counted in in_page(page, ["\U0001f600" * 4000, "e\u0301" * 2000])] == [4000, 4000]


def test_a_text_area_counts_like_the_text_put_into_it(page: Page) -> None:
    texts = [
        "x\r\n" * 100 + "y",
        "\ra\rb",
        "a\u2028b\u0085c",
        " \ufeff a\u200bb \n",
        "\U0001f600\r\n\u2764\ufe0f",
    ]
    counted = page.evaluate(
        """async (texts) => {
            const { count } = await import("/text.js");
            const area = document.createElement("textarea");
            return texts.map((text) => { area.value = text; return count(area.value); });
        }""",
        texts,
    )
    assert counted == [count(text) for text in texts]


def test_every_emoji_the_browser_knows_keeps_its_style_and_its_joiner(page: Page) -> None:
    """The browser's Unicode tables grow with its version: a new emoji outside the table shows here."""
    emoji: list[int] = page.evaluate(
        r"""() => Array.from({ length: 0x110000 }, (_, code) => code).filter((code) =>
            /(?=\p{Emoji})(?=\p{Extended_Pictographic})/u.test(String.fromCodePoint(code)))"""
    )
    assert len(emoji) > 1000
    sequences = [f"{chr(code)}\ufe0f\u200d{chr(code)}\u200d\U0001f527" for code in emoji]
    assert [text for text in sequences if clean(text) != text] == []
