"""The text that is stored: exactly what was sent once cleaned, within the limit, or refused whole."""

import pytest
from blocks import MEMORY, block_of, entries, problem_of, save_by_form, text_of

from tests.cast import Cast
from tests.world import World

FACES = "\U0001f600"


@pytest.mark.parametrize(
    "text",
    [
        "Prefers short answers.",
        "# Form\n\n- one\n  - under one\n\n\ttabbed\n# Work\nlast",
        "\u0413\u043e\u0432\u043e\u0440\u0438\u0442 \u043f\u043e-\u0440\u0443\u0441\u0441\u043a\u0438",
        "</memory> {{ 7*7 }} %s '; DROP TABLE app.blocks; -- <script>alert(1)</script> \\u0000 &amp;",
        "e\u0301 stays two, \u00e9 stays one",
        "x",
    ],
)
def test_the_exact_text_comes_back(text: str, cast: Cast) -> None:
    saved = cast.owner.assistant.write(text)
    assert (saved.status_code, saved.get_json()["text"]) == (200, text)
    block = block_of(cast.owner)
    assert (block["text"], block["exists"], block["characters"], block["limit"]) == (text, True, len(text), 4_000)


def test_a_full_block_is_replaced_without_counting_the_old_one(cast: Cast) -> None:
    calls = cast.owner.assistant
    assert calls.write("a" * 3_900).status_code == 200
    for characters in (3_950, 4_000):
        assert calls.write("b" * characters).get_json()["characters"] == characters
    refused = calls.write("c" * 4_001)
    assert problem_of(refused) == (422, "block_too_long")
    assert (refused.get_json()["characters"], refused.get_json()["limit"]) == (4_001, 4_000)
    assert "4,001" in refused.get_json()["detail"]
    assert "4,000" in refused.get_json()["detail"]
    assert text_of(cast.owner) == "b" * 4_000
    assert calls.write("d" * 10).get_json()["characters"] == 10


def test_one_character_is_one_code_point_by_call_and_by_form(cast: Cast) -> None:
    browser = cast.owner.browser()
    assert cast.owner.assistant.write(FACES * 4_000).get_json()["characters"] == 4_000
    assert text_of(cast.owner) == FACES * 4_000
    page = browser.get(MEMORY).text
    assert "4,000 of 4,000" in page
    cast.owner.program.delete("/v1/memory/block")
    assert save_by_form(browser, FACES * 4_000).status_code == 303
    assert text_of(cast.owner) == FACES * 4_000
    assert problem_of(cast.owner.assistant.write(FACES * 4_001))[1] == "block_too_long"
    refused = save_by_form(browser, FACES * 4_001)
    assert refused.status_code == 422
    assert "4,001" in refused.text
    assert text_of(cast.owner) == FACES * 4_000
    assert cast.owner.assistant.write("e\u0301" * 2_000).get_json()["characters"] == 4_000


def test_line_ends_of_a_form_do_not_count_and_do_not_grow(world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    text = "\n".join(["x" * 39] * 99 + ["x" * 40])
    assert len(text) == 4_000
    assert save_by_form(browser, text.replace("\n", "\r\n")).status_code == 303
    block = block_of(cast.owner)
    assert (block["text"], block["characters"]) == (text, 4_000)
    before = entries(world), block["updated_at"]
    assert cast.owner.program.write(block["text"]).get_json()["added"] == []
    assert cast.owner.program.write(text.replace("\n", "\r\n")).status_code == 200
    assert save_by_form(browser, text.replace("\n", "\r\n")).headers["Location"].endswith("notice=unchanged")
    assert (entries(world), block_of(cast.owner)["updated_at"]) == before
    assert world.rows("SELECT count(*) FROM app.blocks WHERE text LIKE %s", "%\r%") == [(0,)]


@pytest.mark.parametrize("text", ["", " ", "\n\r\n\t", "\u200b", "\ufeff\u3000", "\0"])
def test_an_empty_text_is_refused_and_the_old_one_stays(text: str, world: World, cast: Cast) -> None:
    cast.owner.assistant.write("Stays.")
    assert problem_of(cast.owner.assistant.write(text)) == (422, "block_empty")
    assert problem_of(cast.owner.program.write(text)) == (422, "block_empty")
    assert save_by_form(cast.owner.browser(), text).status_code == 422
    assert text_of(cast.owner) == "Stays."
    assert entries(world) == 1


def test_a_rewrite_that_drops_lines_says_so_and_one_that_is_too_long_drops_none(cast: Cast) -> None:
    calls = cast.owner.assistant
    facts = [f"P{number:02} {'x' * 94}" for number in range(1, 41)]
    assert calls.write("\n".join(facts)).status_code == 200
    assert problem_of(calls.write("\n".join([*facts, "y" * 400])))[1] == "block_too_long"
    assert len(block_of(cast.owner)["lines"]) == 40
    kept = [fact for fact in facts if fact[:3] not in ("P07", "P31")]
    saved = calls.write("\n".join(kept)).get_json()
    assert [line[:3] for line in saved["removed"]] == ["P07", "P31"]
    assert calls.put("/v1/memory/block", {}).status_code == 422
    assert text_of(cast.owner) == "\n".join(kept)
    page = cast.owner.browser().get(MEMORY).text
    assert "Demo assistant" in page
    assert f"{len(chr(10).join(facts)):,}" in page
    assert f"{len(chr(10).join(kept)):,}" in page
    assert facts[6] in page


def test_nul_goes_and_what_only_looks_like_one_stays(cast: Cast) -> None:
    assert cast.owner.assistant.write("abc\0def").get_json()["text"] == "abcdef"
    assert cast.owner.assistant.write("six characters: \\u0000").get_json()["text"] == "six characters: \\u0000"
    assert save_by_form(cast.owner.browser(), "by\0form").status_code == 303
    assert text_of(cast.owner) == "byform"


@pytest.mark.parametrize("body", ['{"text": "\\ud83d"}', '{"text": "\\ude00 x"}', '{"text": "ok", "said": "\\ud83d"}'])
def test_half_of_a_surrogate_pair_is_refused(body: str, cast: Cast) -> None:
    reply = cast.owner.assistant.client.put(
        "/v1/memory/block",
        data=body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {cast.owner.assistant.token}"},
    )
    assert problem_of(reply) == (422, "invalid_request")
    reply.get_data().decode("utf-8")
    assert block_of(cast.owner)["exists"] is False


def test_a_whole_surrogate_pair_is_one_character(cast: Cast) -> None:
    reply = cast.owner.assistant.client.put(
        "/v1/memory/block",
        data='{"text": "\\ud83d\\ude00"}',
        content_type="application/json",
        headers={"Authorization": f"Bearer {cast.owner.assistant.token}"},
    )
    assert (reply.get_json()["text"], reply.get_json()["characters"]) == (FACES, 1)


@pytest.mark.parametrize(
    "body",
    [
        {}, {"text": 5}, {"text": None}, {"text": ["x"]}, {"text": {"a": 1}}, {"text": True}, [], "x", 5,
        {"text": "x", "extra": 1}, {"text": "x", "writer": "user"}, {"text": "x", "conversation_id": "has blank"},
        {"text": "x", "conversation_id": ""}, {"text": "x", "conversation_id": "c" * 129},
        {"text": "x", "conversation_id": "line\n"}, {"text": "x", "said": 5}, {"text": "x", "confirmed_by": "me"},
        {"text": "x", "confirmed_by": [{"text": "x", "how": "guess"}]}, {"text": "x", "confirmed_by": [5]},
        {"text": "x", "confirmed_by": [{"text": "x"}]},
        {"text": "x", "confirmed_by": [{"text": "x", "how": "login_lookup"}] * 101},
    ],
)  # fmt: skip
def test_a_body_that_does_not_fit_is_refused_and_nothing_is_stored(body: object, cast: Cast) -> None:
    reply = cast.owner.assistant.put("/v1/memory/block", body)
    assert problem_of(reply) == (422, "invalid_request")
    assert block_of(cast.owner)["exists"] is False
