"""Writes at the same moment: one after the other, each whole, none lost from the trail."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from blocks import block_of, changes_of, entries, lines_of
from werkzeug.test import TestResponse

from tests.cast import Calls, Cast
from tests.world import World


def at_once(acts: list[Callable[[], TestResponse]]) -> list[TestResponse]:
    """Run all acts released together."""
    barrier = Barrier(len(acts))

    def run(act: Callable[[], TestResponse]) -> TestResponse:
        barrier.wait()
        return act()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def writer(calls: Calls, text: str) -> Callable[[], TestResponse]:
    return lambda: calls.write(text)


def text_number(number: int) -> str:
    return "\n".join(f"rewrite {number} line {line}" for line in range(30))


def test_two_first_saves_at_once_both_succeed_and_one_stands(world: World, cast: Cast) -> None:
    for number in range(5):
        replies = at_once(
            [writer(cast.owner.assistant, f"first {number}"), writer(cast.owner.program, f"other {number}")]
        )
        assert [reply.status_code for reply in replies] == [200, 200]
        assert block_of(cast.owner)["text"] in (f"first {number}", f"other {number}")
        assert entries(world) == 2 * (number + 1)
        cast.owner.program.delete("/v1/memory/block")


def test_20_rewrites_at_once_end_as_one_of_them_whole_with_an_entry_each(world: World, cast: Cast) -> None:
    cast.owner.assistant.write("before")
    replies = at_once([writer(cast.owner.assistant, text_number(number)) for number in range(20)])
    assert [reply.status_code for reply in replies] == [200] * 20
    texts = [text_number(number) for number in range(20)]
    block = block_of(cast.owner)
    assert block["text"] in texts
    assert [line["text"] for line in block["lines"]] == block["text"].split("\n")
    assert world.rows("SELECT count(*) FROM app.block_lines") == [(30,)]
    assert entries(world) == 21
    sizes = [(change["counts"]["characters_before"], change["counts"]["characters_after"])
             for change in reversed(changes_of(cast.owner.assistant))]  # fmt: skip
    assert [after for _, after in sizes[:-1]] == [before for before, _ in sizes[1:]]


def test_of_20_conditional_rewrites_of_one_state_exactly_one_is_stored(world: World, cast: Cast) -> None:
    calls = cast.owner.assistant
    calls.write("before")
    seen = {"If-Match": calls.get("/v1/memory/block").headers["ETag"]}

    def conditional(number: int) -> Callable[[], TestResponse]:
        return lambda: calls.put("/v1/memory/block", {"text": f"rewrite {number}"}, headers=seen)

    replies = at_once([conditional(number) for number in range(20)])
    assert sorted(reply.status_code for reply in replies) == [200] + [412] * 19
    assert entries(world) == 2


def test_clearing_and_writing_at_once_leave_one_or_the_other(world: World, cast: Cast) -> None:
    for number in range(5):
        cast.owner.assistant.write(f"before {number}")
        clear = lambda: cast.owner.program.delete("/v1/memory/block")  # noqa: E731
        replies = at_once([clear, writer(cast.owner.assistant, f"after {number}")])
        assert [reply.status_code for reply in replies] == [200, 200]
        text = block_of(cast.owner)["text"]
        assert text in ("", f"after {number}")
        assert set(lines_of(cast.owner)) == ({text} if text else set())
        assert world.rows("SELECT count(*) FROM app.block_lines") == [(1 if text else 0,)]
        cast.owner.program.delete("/v1/memory/block")
