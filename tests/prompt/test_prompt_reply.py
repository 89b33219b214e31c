"""How the prompt is answered: the same bytes for the same state, validators, plain text, and unknown libraries."""

import pytest

from memory.prompt.api import PromptMemory, PromptReply
from tests.cast import Calls, Cast
from tests.world import World

PROMPT = "/v1/prompt"


def test_the_same_state_is_the_same_bytes_in_every_process(world: World, cast: Cast) -> None:
    cast.owner.assistant.write("Likes tea.\n\nAnd cake.")
    calls = cast.owner.assistant
    first, second = calls.get(PROMPT), calls.get(PROMPT)
    with world.another_app() as app:
        third = Calls(app.test_client(), calls.token).get(PROMPT)
    for other in (second, third):
        assert other.get_json()["text"].encode() == first.get_json()["text"].encode()
        assert other.headers["ETag"] == first.headers["ETag"]
        assert other.get_json()["segments"] == first.get_json()["segments"]


def test_a_copy_that_is_current_is_not_sent_again(cast: Cast) -> None:
    calls = cast.owner.assistant
    calls.write("one")
    seen = calls.get(PROMPT)
    again = calls.get(PROMPT, headers={"If-None-Match": seen.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["Cache-Control"] == "private, no-store"


def test_every_change_of_what_loads_changes_the_validator(cast: Cast) -> None:
    calls, seen = cast.owner.assistant, set()
    seen.add(calls.get(PROMPT).headers["ETag"])
    for text in ("one", "one\n\ntwo", "two\n\none"):
        calls.write(text)
        seen.add(calls.get(PROMPT).headers["ETag"])
    cast.owner.program.put("/v1/memory/switch", {"on": False})
    seen.add(calls.get(PROMPT).headers["ETag"])
    assert len(seen) == 5
    cast.owner.program.put("/v1/memory/switch", {"on": True})
    assert calls.get(PROMPT).headers["ETag"] in seen


def test_a_validator_of_somebody_else_s_equal_text_is_not_current(cast: Cast) -> None:
    for person in (cast.owner, cast.teammate):
        person.assistant.write("the same")
    seen = cast.owner.assistant.get(PROMPT).headers["ETag"]
    assert cast.teammate.assistant.get(PROMPT, headers={"If-None-Match": seen}).status_code == 200


def test_plain_text_is_the_text_alone(cast: Cast) -> None:
    cast.owner.assistant.write("\U0001f600 Likes tea.")
    calls = cast.owner.assistant
    plain = calls.get(PROMPT, headers={"Accept": "text/plain"})
    assert plain.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert plain.data.decode() == calls.get(PROMPT).get_json()["text"]
    assert (
        calls.get(PROMPT, headers={"Accept": "text/plain", "If-None-Match": plain.headers["ETag"]}).status_code == 304
    )


@pytest.mark.parametrize(
    "accept", ["*/*", "application/json", "text/html", "", "text/plain;q=0.5, application/json", "x"]
)
def test_everything_else_is_answered_in_json(accept: str, cast: Cast) -> None:
    assert cast.owner.assistant.get(PROMPT, headers={"Accept": accept}).mimetype == "application/json"


def test_what_is_said_beside_the_text(cast: Cast) -> None:
    cast.owner.assistant.write("Likes tea.")
    prompt = cast.owner.assistant.get(PROMPT).get_json()
    assert set(prompt) == {"text", "segments", "memory", "as_of"}
    assert prompt["as_of"].endswith("Z")
    assert prompt["memory"] == {
        "on": True, "characters": 10, "limit": 4_000, "withheld_lines": 0, "stale_lines": 0,
        "suggestions_pending": 0, "ask_still_true": [],
    }  # fmt: skip


def test_a_library_that_is_not_there_is_not_found(cast: Cast) -> None:
    reply = cast.owner.assistant.get(f"{PROMPT}?library_id=019a0000-0000-7000-8000-000000000000")
    assert (reply.status_code, reply.get_json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "query", ["library_id=x", "library_id=", "unknown=1", "user_id=019a0000-0000-7000-8000-000000000000"]
)
def test_a_query_that_does_not_fit_is_refused(query: str, cast: Cast) -> None:
    reply = cast.owner.assistant.get(f"{PROMPT}?{query}")
    assert (reply.status_code, reply.get_json()["code"]) == (422, "invalid_request")


def test_a_web_session_reads_its_own_prompt(cast: Cast) -> None:
    cast.owner.assistant.write("Likes tea.")
    assert "Likes tea." in cast.owner.browser().get(PROMPT).get_json()["text"]


def test_the_reply_has_the_declared_shape(cast: Cast) -> None:
    cast.owner.assistant.write("- Call me Mina.")
    reply = cast.owner.assistant.get("/v1/prompt").get_json()
    assert PromptReply().load(reply)
    assert set(reply) == set(PromptReply().fields)
    assert set(reply["memory"]) == set(PromptMemory().fields)
