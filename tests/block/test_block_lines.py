"""What is known about each line: where it came from, and an id that stays over moves and edits."""

from datetime import datetime, timedelta

from blocks import block_of, lines_of

from tests.cast import Cast
from tests.world import World


def test_a_line_says_where_it_came_from(world: World, cast: Cast) -> None:
    cast.owner.assistant.write("By the model.", conversation_id="chat:1.a-b")
    cast.owner.program.write("By the model.\nBy the user.")
    lines = lines_of(cast.owner)
    model, user = lines["By the model."], lines["By the user."]
    assert (model["source"], model["provenance"], model["conversation_id"]) == (
        "model_write", "unverified", "chat:1.a-b",
    )  # fmt: skip
    assert (user["source"], user["provenance"], user["conversation_id"]) == ("user_edit", "stated", None)
    for line in (model, user):
        assert (line["category"], line["last_used_at"], line["state"]) == (None, None, "active")
        assert line["created_at"].endswith("Z")
        created = datetime.fromisoformat(line["created_at"])
        assert abs(world.clock.now() - created) < timedelta(minutes=1)
    assert set(model) == {
        "id", "text", "category", "source", "provenance", "created_at", "last_used_at", "conversation_id", "state",
    }  # fmt: skip


def test_how_an_account_was_confirmed_is_kept(world: World, cast: Cast) -> None:
    confirmed = [{"text": "GitHub: mokafor", "how": "login_lookup"}]
    cast.owner.assistant.write("GitHub: mokafor\nLikes tea.", confirmed_by=confirmed)
    kept = world.rows("SELECT confirmed_by FROM app.block_lines ORDER BY confirmed_by NULLS LAST")
    assert kept == [("login_lookup",), (None,)]


def test_ids_stay_when_lines_move_or_are_edited(world: World, cast: Cast) -> None:
    calls = cast.owner.assistant
    calls.write("Prefers short answers.\nWorks on billing.\nTime zone: Europe/Berlin.", conversation_id="first")
    before = lines_of(cast.owner)
    world.move_clock(timedelta(days=1))
    cast.owner.program.write("Time zone: Europe/Berlin.\nPrefers short answers.\nWorks on billing and tax.")
    after = lines_of(cast.owner)
    for same in ("Prefers short answers.", "Time zone: Europe/Berlin."):
        assert after[same] == before[same]
    old, new = before["Works on billing."], after["Works on billing and tax."]
    assert (new["id"], new["created_at"]) == (old["id"], old["created_at"])
    assert (new["source"], new["provenance"], new["conversation_id"]) == ("user_edit", "stated", None)


def test_a_removed_line_loses_its_id_for_good(cast: Cast) -> None:
    calls = cast.owner.assistant
    calls.write("Stays.\nGoes away.")
    gone = lines_of(cast.owner)["Goes away."]["id"]
    calls.write("Stays.")
    calls.write("Stays.\nGoes away.")
    assert lines_of(cast.owner)["Goes away."]["id"] != gone


def test_copies_of_a_line_have_ids_of_their_own_and_the_first_stays_longest(cast: Cast) -> None:
    calls = cast.owner.assistant
    calls.write("same\nsame\nsame")
    ids = [line["id"] for line in block_of(cast.owner)["lines"]]
    assert len(set(ids)) == 3
    calls.write("other\nsame\nsame")
    assert [line["id"] for line in block_of(cast.owner)["lines"]][1:] == ids[:2]
    calls.write("same\nother\nsame\nsame")
    assert [line["id"] for line in block_of(cast.owner)["lines"] if line["text"] == "same"][:2] == ids[:2]


def test_a_line_edited_into_a_copy_of_another_keeps_both_ids(cast: Cast) -> None:
    calls = cast.owner.assistant
    calls.write("Owns the billing service.\nOwns the billing services.")
    ids = {line["id"] for line in block_of(cast.owner)["lines"]}
    assert calls.write("Owns the billing service.\nOwns the billing service.").status_code == 200
    assert {line["id"] for line in block_of(cast.owner)["lines"]} == ids
    assert calls.write("Owns the billing services.\nOwns the billing service.").status_code == 200
    assert {line["id"] for line in block_of(cast.owner)["lines"]} == ids


def test_what_is_known_about_lines_holds_no_copy_of_their_text(world: World, cast: Cast) -> None:
    cast.owner.assistant.write("zyxquokka77 likes tea")
    [(row,)] = world.rows("SELECT string_agg(block_lines::text, '') FROM app.block_lines")
    assert "zyxquokka77" not in row
    assert b"zyxquokka77".hex() not in row


def test_equal_lines_of_two_people_have_different_digests(world: World, cast: Cast) -> None:
    for person in (cast.owner, cast.teammate, cast.stranger):
        person.assistant.write("The same line.")
    assert len(world.rows("SELECT DISTINCT digest FROM app.block_lines")) == 3
