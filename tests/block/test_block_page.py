"""The page's save: it rereads, loses neither text, and lets the person choose."""

import pytest
from blocks import MEMORY, entries, post, save_by_form, text_of
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.cast import Cast, csrf_token_of
from tests.world import World


def save_what_was_opened(browser: FlaskClient, page: str, text: str) -> TestResponse:
    fields = {"csrf_token": csrf_token_of(page), "seen": seen_of(page), "text": text}
    return browser.post(MEMORY, data=fields)


def seen_of(page: str) -> str:
    return page.split('name="seen" value="', 1)[1].split('"', 1)[0]


def test_a_text_changed_meanwhile_is_not_overwritten_and_the_typed_one_is_kept(world: World, cast: Cast) -> None:
    cast.owner.assistant.write("both\nold")
    browser = cast.owner.browser()
    opened = browser.get(MEMORY).text
    cast.owner.assistant.write("both\nthe assistant's")
    conflict = save_what_was_opened(browser, opened, "both\nold\ntyped")
    assert conflict.status_code == 412
    assert text_of(cast.owner) == "both\nthe assistant&#39;s".replace("&#39;", "'")
    assert ">\nboth\nold\ntyped</textarea>" in conflict.text
    assert "Save anyway" in conflict.text
    assert 'id="load-link"' in conflict.text
    assert "Demo assistant" in conflict.text
    only_saved, only_yours = (
        conflict.text.split(f'id="{name}"', 1)[1].split("</ul>")[0] for name in ("only-saved", "only-yours")
    )
    assert "the assistant&#39;s" in only_saved
    assert "typed" not in only_saved
    assert "typed" in only_yours
    assert "both" not in only_saved + only_yours
    assert entries(world) == 2

    saved = save_what_was_opened(browser, conflict.text, "both\nold\ntyped")
    assert saved.status_code == 303
    assert text_of(cast.owner) == "both\nold\ntyped"


def test_a_text_changed_once_more_after_the_conflict_is_asked_about_again(cast: Cast) -> None:
    browser = cast.owner.browser()
    opened = browser.get(MEMORY).text
    cast.owner.assistant.write("first")
    conflict = save_what_was_opened(browser, opened, "typed")
    cast.owner.assistant.write("second")
    assert save_what_was_opened(browser, conflict.text, "typed").status_code == 412
    assert text_of(cast.owner) == "second"


def test_a_text_removed_meanwhile_is_a_conflict_too(cast: Cast) -> None:
    cast.owner.assistant.write("one")
    browser = cast.owner.browser()
    opened = browser.get(MEMORY).text
    cast.owner.program.delete("/v1/memory/block")
    assert save_what_was_opened(browser, opened, "one\ntwo").status_code == 412
    assert text_of(cast.owner) == ""


def test_typing_what_was_saved_meanwhile_is_no_conflict(cast: Cast) -> None:
    browser = cast.owner.browser()
    opened = browser.get(MEMORY).text
    cast.owner.assistant.write("the same")
    assert save_what_was_opened(browser, opened, "the same\r\n").status_code == 303


def test_the_page_says_what_was_saved_and_a_reload_repeats_nothing(world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    reply = save_by_form(browser, "one\ntwo")
    shown = browser.get(reply.headers["Location"])
    assert "2 lines added" in shown.text
    assert browser.get(reply.headers["Location"]).status_code == 200
    assert entries(world) == 1


@pytest.mark.parametrize(
    "text", ["</textarea><script>alert(1)</script>", "\n\nleading", "&lt;b&gt; & <b>", "{{ 7*7 }}"]
)
def test_the_text_is_shown_as_text(text: str, cast: Cast) -> None:
    cast.owner.assistant.write(text)
    page = cast.owner.browser().get(MEMORY).text
    assert "<script>alert" not in page
    assert "<b>" not in page.split("<textarea")[1].split("</textarea>")[0]
    assert "49" not in page.split("<textarea")[1].split("</textarea>")[0]
    save_by_form(cast.owner.browser(), f"{text}\nmore")
    assert text_of(cast.owner).startswith(text.strip())


def test_a_form_without_its_fields_stores_nothing(cast: Cast) -> None:
    cast.owner.assistant.write("stays")
    assert post(cast.owner.browser(), MEMORY).status_code == 412
    assert post(cast.owner.browser(), MEMORY, text="lost update", seen="").status_code == 412
    assert text_of(cast.owner) == "stays"
