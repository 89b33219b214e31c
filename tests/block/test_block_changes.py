"""The list of changes: paged by cursor without repeats or gaps, and only with the caller's own cursors."""

from typing import Any

import pytest
from blocks import MEMORY, changes_of, problem_of

from tests.cast import Calls, Cast
from tests.world import World

CHANGES = "/v1/memory/changes"


def page_of(calls: Calls, limit: int, cursor: str | None = None) -> tuple[list[str], str | None]:
    query: dict[str, Any] = {"limit": limit, **({"cursor": cursor} if cursor else {})}
    reply = calls.get(CHANGES, query_string=query)
    assert reply.status_code == 200
    content = reply.get_json()
    return [item["id"] for item in content["items"]], content["next_cursor"]


def all_pages(calls: Calls, limit: int) -> list[list[str]]:
    ids, cursor = page_of(calls, limit)
    pages = [ids]
    while cursor:
        ids, cursor = page_of(calls, limit, cursor)
        pages.append(ids)
    return pages


def write(calls: Calls, times: int, word: str = "line") -> None:
    for number in range(times):
        assert calls.write(f"{word} {number}").status_code == 200


def test_45_entries_come_in_pages_of_20_20_and_5_newest_first(world: World, cast: Cast) -> None:
    write(cast.owner.assistant, 45)
    with world.superuser() as connection:  # as if all had been written in one moment
        connection.execute("UPDATE app.audit_events SET at = (SELECT min(at) FROM app.audit_events)")
    pages = all_pages(cast.owner.assistant, 20)
    assert [len(page) for page in pages] == [20, 20, 5]
    ids = [entry for page in pages for entry in page]
    assert len(set(ids)) == 45
    assert ids == sorted(ids, reverse=True)


@pytest.mark.parametrize(("entries", "sizes"), [(0, [0]), (1, [1]), (3, [3]), (4, [3, 1]), (6, [3, 3])])
def test_there_is_a_next_page_only_where_it_holds_something(entries: int, sizes: list[int], cast: Cast) -> None:
    write(cast.owner.assistant, entries)
    assert [len(page) for page in all_pages(cast.owner.assistant, 3)] == sizes


def test_what_arrives_meanwhile_repeats_nothing_and_hides_nothing(cast: Cast) -> None:
    calls = cast.owner.program
    write(cast.owner.assistant, 10)
    there = [change["id"] for change in changes_of(calls)]
    first, cursor = page_of(calls, 4)
    write(cast.owner.assistant, 3, "newer")
    cast.owner.program.put("/v1/memory/switch", {"on": False})
    second, cursor = page_of(calls, 4, cursor)
    third, cursor = page_of(calls, 4, cursor)
    assert cursor is None
    assert first + second + third == there


def test_the_default_is_20_and_the_most_is_100(cast: Cast) -> None:
    write(cast.owner.assistant, 21)
    assert len(cast.owner.assistant.get(CHANGES).get_json()["items"]) == 20
    assert len(page_of(cast.owner.assistant, 100)[0]) == 21


@pytest.mark.parametrize(
    "query",
    [{"limit": 0}, {"limit": 101}, {"limit": "x"}, {"limit": "1.5"}, {"limit": "9" * 5_000}, {"limit": ""}, {"page": 2},
     {"cursor": ""}, {"cursor": "garbage"}, {"cursor": "\u00e9\0"}, {"cursor": "A" * 2_001}, {"cursor": "gAAAAA=="}],
)  # fmt: skip
def test_a_query_that_does_not_fit_is_refused(query: dict[str, Any], cast: Cast) -> None:
    assert problem_of(cast.owner.assistant.get(CHANGES, query_string=query)) == (422, "invalid_request")


def test_a_cursor_of_somebody_else_or_of_another_list_is_refused(cast: Cast) -> None:
    for person in (cast.owner, cast.teammate, cast.stranger):
        write(person.assistant, 12)
    _, cursor = page_of(cast.owner.assistant, 2)
    assert cursor is not None
    for person in (cast.teammate, cast.stranger):
        refused = person.assistant.get(CHANGES, query_string={"cursor": cursor})
        assert problem_of(refused) == (422, "invalid_request")
    assert len(page_of(cast.owner.program, 2, cursor)[0]) == 2
    browser = cast.owner.browser()
    assert browser.get(MEMORY, query_string={"changes": cursor}).status_code == 422
    of_the_page = browser.get(MEMORY).text.split("?changes=", 1)[1].split('"', 1)[0]
    assert problem_of(cast.owner.assistant.get(f"{CHANGES}?cursor={of_the_page}")) == (422, "invalid_request")


def test_a_cursor_that_was_tampered_with_is_refused(cast: Cast) -> None:
    write(cast.owner.assistant, 3)
    _, cursor = page_of(cast.owner.assistant, 1)
    assert cursor is not None
    for bent in (cursor[1:], cursor[:60] + cursor[61:], cursor.swapcase(), cursor[:-8]):
        assert problem_of(cast.owner.assistant.get(CHANGES, query_string={"cursor": bent}))[0] == 422


def test_the_page_goes_on_to_older_changes(cast: Cast) -> None:
    write(cast.owner.assistant, 12, "odd")
    browser = cast.owner.browser()
    newest = browser.get(MEMORY).text
    assert newest.count('<li class="change"') == 10
    address = newest.split('id="older-changes" href="', 1)[1].split('"', 1)[0]
    assert browser.get(address.replace("&amp;", "&")).text.count('<li class="change"') == 2
