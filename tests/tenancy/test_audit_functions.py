"""Entries of the trail: who, which org and when are the database's to say, and nobody changes them."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from tests.cast import Cast, Person
from tests.tenancy.app_role import REJECTED, app_connection
from tests.world import World

TABLES = ["app.audit_events", "app.audit_details"]
DIGEST = "11" * 32


def _detail(text: str, change: str = "added", digest: str = DIGEST, **more: Any) -> dict[str, Any]:
    return {"change": change, "text": text, "digest": digest, "expires_at": None, **more}


def _append(connection: Connection, details: Sequence[dict[str, Any]] = (), writer: str = "user") -> UUID:
    event: UUID = connection.exec_driver_sql(
        "SELECT tenancy.append_audit('test', %s, 'block.rewrite', 'block', NULL, 'done', '{\"added\": 1}', 'r-1', %s)",
        (writer, json.dumps(list(details))),
    ).scalar_one()
    return event


def _appended(world: World, person: Person, *details: dict[str, Any]) -> UUID:
    with world.services.binder.bound(person.identity) as connection:
        return _append(connection, details)


def _remove(world: World, person: Person, *arguments: Any) -> int:
    with world.services.binder.bound(person.identity) as connection:
        removed: int = connection.exec_driver_sql(
            "SELECT tenancy.remove_audit_details(%s, %s, %s)", arguments
        ).scalar_one()
    return removed


def test_org_actor_and_time_follow_from_identity_and_database(world: World, cast: Cast) -> None:
    before = datetime.now(UTC)
    event = _appended(world, cast.lead)
    after = datetime.now(UTC)
    [(org_id, user_id, actor_id, at)] = world.rows(
        "SELECT org_id, user_id, actor_id, at FROM app.audit_events WHERE id = %s", event
    )
    lead = cast.lead.identity
    assert (org_id, user_id, actor_id) == (lead.org_id, lead.user_id, lead.user_id)
    assert before <= at <= after


def test_nothing_that_is_passed_names_another_person_org_or_time(world: World, cast: Cast) -> None:
    other = cast.stranger.identity
    detail = _detail(
        "x", org_id=str(other.org_id), user_id=str(other.user_id), event_id=str(other.user_id), at="2001-01-01", place=9
    )
    event = _appended(world, cast.owner, detail)
    owner = cast.owner.identity
    assert world.rows("SELECT org_id, user_id, event_id, place FROM app.audit_details") == [
        (owner.org_id, owner.user_id, event, 1)
    ]
    arguments = world.rows("SELECT proargnames FROM pg_proc WHERE proname = 'append_audit'")
    assert not {"org", "org_id", "user_id", "actor", "actor_id", "at", "id"} & set(arguments[0][0])


def test_the_time_is_that_of_stored_things(world: World, cast: Cast) -> None:
    world.move_clock(timedelta(days=91))
    event = _appended(world, cast.owner)
    [(ahead,)] = world.rows("SELECT at - clock_timestamp() FROM app.audit_events WHERE id = %s", event)
    assert timedelta(days=90) < ahead < timedelta(days=92)


def test_nobody_and_a_forged_identity_write_no_entry(world: World) -> None:
    call = b"SELECT tenancy.append_audit('c', 'user', 'a.b', 'block', NULL, 'done', '{}', 'r', '[]')"
    with app_connection(world) as connection:
        with pytest.raises(REJECTED):
            connection.execute(call)
        with pytest.raises(REJECTED):
            connection.execute("SELECT tenancy.remove_audit_details(NULL, NULL, NULL)")
    assert world.rows("SELECT count(*) FROM app.audit_events") == [(0,)]


def test_an_entry_goes_with_its_act(world: World, cast: Cast) -> None:
    def fail(connection: Connection) -> None:
        _append(connection)
        connection.exec_driver_sql("SELECT 1 / 0")

    def act() -> None:
        with world.services.binder.bound(cast.owner.identity) as connection:
            fail(connection)

    cast.owner.identity  # noqa: B018 - makes the user, which is an entry of its own the first time
    before = world.rows("SELECT count(*) FROM app.audit_events")
    with pytest.raises(DBAPIError):
        act()
    assert world.rows("SELECT count(*) FROM app.audit_events") == before


@pytest.mark.parametrize("text", ["A line", "Ünïcödé — 日本語 👩‍💻", "a:b", "", "' OR 1=1", "\\x00 and \\n"])
def test_a_commitment_proves_its_detail(world: World, cast: Cast, text: str) -> None:
    event = _appended(world, cast.owner, _detail(text), _detail(text, "removed"), _detail("another"))
    [(commitments,)] = world.rows("SELECT commitments FROM app.audit_events WHERE id = %s", event)
    details = world.rows("SELECT change, text, salt FROM app.audit_details WHERE event_id = %s ORDER BY place", event)
    assert [(change, stored) for change, stored, _ in details] == [
        ("added", text), ("removed", text), ("added", "another"),
    ]  # fmt: skip
    assert [bytes(commitment) for commitment in commitments] == [
        hashlib.sha256(bytes(salt) + f"{change}:{stored}".encode()).digest() for change, stored, salt in details
    ]
    assert len({bytes(salt) for *_, salt in details}) == 3


def test_a_commitment_stays_when_its_detail_goes(world: World, cast: Cast) -> None:
    event = _appended(world, cast.owner, _detail("Gone"), _detail("Kept", digest="22" * 32))
    before = world.rows("SELECT e::text FROM app.audit_events e")
    assert _remove(world, cast.owner, [bytes.fromhex(DIGEST)], None, None) == 1
    assert world.rows("SELECT e::text FROM app.audit_events e") == before
    assert world.rows("SELECT place, text FROM app.audit_details WHERE event_id = %s", event) == [(2, "Kept")]


def test_details_are_removed_by_their_person_alone(world: World, cast: Cast) -> None:
    """The same text, and so here the same digest, at three people; the others name the owner's entry outright."""
    events = {
        name: _appended(world, getattr(cast, name), _detail("Same")) for name in ("owner", "teammate", "stranger")
    }
    for name in ("teammate", "stranger"):
        person = getattr(cast, name)
        assert _remove(world, person, None, events["owner"], 1) == 0
        assert _remove(world, person, None, events["owner"], None) == 0
        assert _remove(world, person, [bytes.fromhex(DIGEST)], None, None) == 1
        assert _remove(world, person, None, None, None) == 0
    assert world.rows("SELECT user_id, text FROM app.audit_details") == [(cast.owner.user_id, "Same")]
    assert _remove(world, cast.owner, [], None, None) == 0
    assert _remove(world, cast.owner, None, events["owner"], 2) == 0
    assert _remove(world, cast.owner, None, events["owner"], 1) == 1


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("verb", ["INSERT INTO {} DEFAULT VALUES", "UPDATE {} SET org_id = org_id", "DELETE FROM {}",
                                  "TRUNCATE {}", "SELECT FROM {} FOR UPDATE"])  # fmt: skip
def test_the_app_and_the_worker_change_no_entry(world: World, cast: Cast, table: str, verb: str) -> None:
    _appended(world, cast.owner, _detail("Kept"))
    for role in ("keepline_app", "keepline_worker"):
        connection = psycopg.connect(world.server.conninfo(role), autocommit=True)
        with connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(verb.format(table).encode())
    assert world.rows("SELECT text FROM app.audit_details") == [("Kept",)]


def test_an_entry_is_of_a_known_kind(world: World, cast: Cast) -> None:
    with (
        pytest.raises(DBAPIError, match="violates check constraint"),
        world.services.binder.bound(cast.owner.identity) as connection,
    ):
        _append(connection, writer="admin")
