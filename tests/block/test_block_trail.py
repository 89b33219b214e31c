"""The trail of the block: what an entry holds, and whose removals vanish from it."""

from datetime import datetime, timedelta

import pytest
from blocks import changes_of, entries, places_of, post, save_by_form, text_of

from tests.cast import Cast
from tests.world import World

WORD = "zyxquokka77"


def test_an_entry_says_who_when_and_how_much(world: World, cast: Cast) -> None:
    cast.owner.assistant.write("a\nbb")
    cast.owner.program.write("a\nc\nd")
    newer, older = changes_of(cast.owner.assistant)
    assert (older["action"], older["writer"], older["client"]) == ("block.rewrite", "model", "demo-assistant")
    assert older["counts"] == {"removed": 0, "added": 2, "characters_before": 0, "characters_after": 4}
    assert (newer["writer"], newer["client"]) == ("user", "demo-console")
    assert newer["counts"] == {"removed": 1, "added": 2, "characters_before": 4, "characters_after": 5}
    assert older["at"].endswith("Z")
    assert datetime.fromisoformat(older["at"]) <= datetime.fromisoformat(newer["at"]) <= world.clock.now()
    rows = world.rows("SELECT org_id, user_id, actor_id, outcome, request_id FROM app.audit_events")
    owner = cast.owner.identity
    assert {row[:4] for row in rows} == {(owner.org_id, owner.user_id, owner.user_id, "done")}
    assert len({row[4] for row in rows}) == 2


def test_the_request_of_an_entry_is_the_one_that_the_reply_named(world: World, cast: Cast) -> None:
    named = cast.owner.assistant.write("a").headers["X-Request-Id"]
    assert world.rows("SELECT request_id FROM app.audit_events") == [(named,)]


def test_what_the_model_removed_is_kept_whole_for_30_days(world: World, cast: Cast) -> None:
    long = f"Owns {'x' * 3_000} {WORD}"
    cast.owner.program.write(f"{long}\nStays.")
    cast.owner.assistant.write("Stays.")
    [detail] = changes_of(cast.owner.assistant)[0]["details"]
    assert (detail["change"], detail["text"], detail["place"]) == ("removed", long, 1)
    left = datetime.fromisoformat(detail["kept_until"]) - world.clock.now()
    assert timedelta(days=29, hours=23, minutes=59) < left <= timedelta(days=30)


def test_an_added_line_is_cut_to_200_characters(cast: Cast) -> None:
    cast.owner.assistant.write("\n".join(("x" * 200, "y" * 201, "\U0001f600" * 300)))
    short, cut, faces = (detail["text"] for detail in changes_of(cast.owner.assistant)[0]["details"])
    assert short == "x" * 200
    assert cut == "y" * 199 + "\u2026"
    assert faces == "\U0001f600" * 199 + "\u2026"


@pytest.mark.parametrize("way", ["call", "form"])
def test_what_the_user_removes_is_nowhere_any_more(way: str, world: World, cast: Cast) -> None:
    """In details of every earlier entry, by whomever, and in no other table."""
    line = f"The odd word is {WORD}, {'and more ' * 30}"
    cast.owner.assistant.write(f"{line}\nStays.")
    cast.owner.assistant.write("Stays.")
    cast.owner.assistant.write(f"Stays.\n{line}")
    cast.owner.program.write(f"{line}\nStays.\nMore.")
    assert places_of(world, WORD) == ["app.audit_details", "app.blocks"]
    if way == "call":
        assert cast.owner.program.write("Stays.\nMore.").get_json()["removed"] == [line.strip()]
    else:
        assert save_by_form(cast.owner.browser(), "Stays.\nMore.").status_code == 303
    assert places_of(world, WORD) == []
    assert len(changes_of(cast.owner.assistant)) == 5
    assert changes_of(cast.owner.assistant)[0]["counts"]["removed"] == 1


def test_what_the_user_edits_is_gone_in_its_old_words(world: World, cast: Cast) -> None:
    cast.owner.assistant.write(f"Likes the {WORD} very much.\nStays.")
    saved = cast.owner.program.write("Likes the zoo very much.\nStays.").get_json()
    assert saved["removed"] == [f"Likes the {WORD} very much."]
    assert places_of(world, WORD) == []
    assert "Likes the zoo very much." in str(changes_of(cast.owner.program))


def test_one_of_two_copies_removed_by_the_user_leaves_the_word_where_it_still_stands(world: World, cast: Cast) -> None:
    cast.owner.assistant.write(f"{WORD}\n{WORD}")
    cast.owner.program.write(WORD)
    assert places_of(world, WORD) == ["app.audit_details", "app.blocks"]
    cast.owner.program.write("other")
    assert places_of(world, WORD) == []


def test_a_removal_reaches_into_no_other_person_s_trail(cast: Cast) -> None:
    for person in (cast.owner, cast.teammate, cast.stranger):
        person.assistant.write(f"{WORD}\nStays.")
        person.assistant.write("Stays.")
    cast.owner.program.write(f"{WORD}\nStays.")
    cast.owner.program.write("Stays.")
    assert WORD not in str(changes_of(cast.owner.program))
    for person in (cast.teammate, cast.stranger):
        assert WORD in str(changes_of(person.program))


def test_an_entry_and_its_commitments_stay_when_its_details_go(world: World, cast: Cast) -> None:
    cast.owner.assistant.write(f"{WORD}\nStays.")
    before = world.rows("SELECT id, at, counts, commitments FROM app.audit_events ORDER BY id")
    cast.owner.program.write("Stays.")
    assert world.rows("SELECT id, at, counts, commitments FROM app.audit_events ORDER BY id")[:1] == before
    assert len(before[0][3]) == 2


def test_a_refused_rewrite_leaves_no_entry_and_no_word(world: World, cast: Cast) -> None:
    for text in (WORD * 1_000, "\u200b"):
        assert cast.owner.assistant.write(text).status_code == 422
    assert entries(world) == 0
    assert places_of(world, WORD) == []


def test_a_reordered_text_is_an_entry_without_lines(cast: Cast) -> None:
    cast.owner.assistant.write("a\nb")
    cast.owner.assistant.write("b\n\na")
    assert text_of(cast.owner) == "b\n\na"
    newest = changes_of(cast.owner.assistant)[0]
    assert newest["details"] == []
    assert newest["counts"] == {"removed": 0, "added": 0, "characters_before": 3, "characters_after": 4}


def test_a_clear_records_only_how_many_lines_went(world: World, cast: Cast) -> None:
    cast.owner.assistant.write(f"{WORD} one\n{WORD} two\n# Head")
    cast.owner.assistant.write(f"{WORD} one\n# Head")
    assert post(cast.owner.browser(), "/settings/memory/clear", confirm="clear").status_code == 303
    newest = changes_of(cast.owner.program)[0]
    assert (newest["action"], newest["details"]) == ("block.clear", [])
    assert newest["counts"] == {"removed": 2, "characters_before": 22, "characters_after": 0}
    assert places_of(world, WORD) == []
