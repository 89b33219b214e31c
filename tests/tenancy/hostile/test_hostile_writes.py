"""No write reaches a row of somebody else, and no conflict, reference or lock tells that there is one."""

import re
import threading
from uuid import uuid4

import pytest

from tests.tenancy.hostile.attackers import LOGINS, SECRET, Heard, Scene

WRITERS = ("teammate", "admin", "stranger", "nobody")
COLUMNS = "(text, updated_at, updated_by_writer, updated_by_client)"
VALUES = "('x', now(), 'user', 'x')"
# With :org and :user of the owner. Each is refused or changes nothing of the owner's.
WHOLE = "(org_id, user_id, text, updated_at, updated_by_writer, updated_by_client)"
UPSERT = f"INSERT INTO app.blocks {COLUMNS} VALUES {VALUES} ON CONFLICT"
MERGED = "MERGE INTO app.blocks b USING (VALUES (:org, :user)) s (o, u)"
WRITES = (
    "UPDATE app.blocks SET text = 'x'",
    "UPDATE app.blocks SET text = 'x' WHERE org_id = :org AND user_id = :user",
    "UPDATE app.blocks SET text = 'x' WHERE text LIKE 'Zyz%'",
    "UPDATE app.blocks SET user_id = :user",
    "UPDATE app.blocks SET org_id = :org, user_id = :user",
    "UPDATE app.blocks b SET text = 'x' FROM app.orgs o WHERE b.org_id = o.org_id",
    "UPDATE app.users SET memory_on = false",
    "UPDATE app.users SET memory_on = false WHERE id = :user",
    "UPDATE app.block_lines SET category = 'role'",
    "DELETE FROM app.blocks",
    "DELETE FROM ONLY app.blocks WHERE user_id = :user",
    "DELETE FROM app.block_lines USING app.blocks",
    "DELETE FROM app.web_sessions",
    "DELETE FROM app.audit_details",
    "DELETE FROM app.users",
    f"INSERT INTO app.blocks {WHOLE} VALUES (:org, :user, 'x', now(), 'user', 'x')",
    f"INSERT INTO app.blocks {COLUMNS} OVERRIDING SYSTEM VALUE VALUES {VALUES}",
    f"{UPSERT} DO NOTHING",
    f"{UPSERT} (org_id, user_id) DO UPDATE SET text = 'x'",
    f"{UPSERT} (org_id, user_id) DO UPDATE SET user_id = :user",
    f"{MERGED} ON b.org_id = o AND b.user_id = u WHEN MATCHED THEN DELETE",
    f"{MERGED} ON b.user_id = u WHEN NOT MATCHED BY SOURCE THEN UPDATE SET text = 'x'",
    f"{MERGED} ON false WHEN NOT MATCHED THEN INSERT {WHOLE} VALUES (o, u, 'x', now(), 'user', 'x')",
    f"WITH gone AS (DELETE FROM app.blocks RETURNING *) INSERT INTO app.blocks {COLUMNS} VALUES {VALUES}",
    "SELECT tenancy.remove_audit_details(NULL, NULL, NULL)",
    "SELECT tenancy.expire_audit_details((SELECT array_agg(digest) FROM app.audit_details), now())",
    "SET LOCAL row_security = off; DELETE FROM app.blocks",
    "SET CONSTRAINTS ALL DEFERRED; DELETE FROM app.blocks",
)


def _filled(scene: Scene, statement: str) -> str:
    owner = scene.cast.owner.identity
    return statement.replace(":org", f"'{owner.org_id}'::uuid").replace(":user", f"'{owner.user_id}'::uuid")


@pytest.mark.parametrize("statement", WRITES)
def test_nothing_of_the_owners_changes(scene: Scene, statement: str) -> None:
    before = scene.of_the_owner()
    for login in LOGINS:
        for name in WRITERS:
            heard = scene.hear(login, name, _filled(scene, statement))
            assert scene.of_the_owner() == before, (login, name)
            assert SECRET not in heard.said
    everybody = scene.world.rows("SELECT user_id, count(*) FROM app.blocks GROUP BY 1 HAVING count(*) > 1")
    assert everybody == []


@pytest.mark.parametrize("statement", ["UPDATE app.blocks SET text = 'x'", "DELETE FROM app.blocks"])
def test_the_owner_changes_them_by_the_same_statement(scene: Scene, statement: str) -> None:
    """The control of what changes nothing: the owner's own row is found and given back."""
    for login in LOGINS:
        assert SECRET in scene.hear(login, "owner", f"{statement} RETURNING old.text").said


def _without_ids(heard: Heard) -> str:
    """What was said, but for ids that stood in the statement and the lines that quote it."""
    said = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "id", heard.said)
    return re.sub(r"LINE 1:.*\n.*\^", "", said)


def _assert_same(scene: Scene, statement: str, there: str, nowhere: str, *, name: str = "stranger") -> None:
    """What is said of something that is there is what is said of something that is nowhere."""
    for login in LOGINS:
        answers = [scene.hear(login, name, statement.replace("?", f"'{value}'")) for value in (there, nowhere)]
        assert _without_ids(answers[0]) == _without_ids(answers[1]), login


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM app.blocks WHERE user_id = ?",
        "SELECT FROM app.blocks WHERE user_id = ? FOR UPDATE NOWAIT",
        "UPDATE app.blocks SET text = 'y' WHERE user_id = ? RETURNING 1",
        "DELETE FROM app.blocks WHERE user_id = ? RETURNING 1",
        "INSERT INTO app.blocks (user_id) VALUES (?)",
        "INSERT INTO app.block_lines (user_id, digest) VALUES (?, sha256('x'))",
        "INSERT INTO app.audit_details (event_id) VALUES (?)",
        "SELECT tenancy.remove_audit_details(NULL, ?, 1)",
        "MERGE INTO app.blocks b USING (SELECT ?::uuid AS u) s ON b.user_id = u WHEN MATCHED THEN DELETE RETURNING 1",
        "SELECT has_table_privilege('app.blocks', 'SELECT'), ?",
        "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT FROM app.blocks WHERE user_id = ?",
    ],
)
def test_a_person_who_is_there_answers_as_one_who_is_nowhere(scene: Scene, statement: str) -> None:
    for name in ("teammate", "stranger", "nobody"):
        _assert_same(scene, statement, str(scene.cast.owner.user_id), str(uuid4()), name=name)


def test_a_line_that_somebody_has_conflicts_with_nobody_elses(scene: Scene) -> None:
    """The owner's digest, put in by a stranger: it goes in, or fails, as any other does; the owner's own conflicts."""
    [(digest,)] = scene.world.rows(
        "SELECT encode(digest, 'hex') FROM app.block_lines WHERE user_id = %s LIMIT 1", scene.cast.owner.user_id
    )
    insert = (
        "INSERT INTO app.block_lines (digest, occurrence, source, provenance, created_at) "
        "VALUES (decode(?, 'hex'), 1, 'import', 'stated', now()) RETURNING occurrence"
    )
    for login in LOGINS:
        assert scene.hear(login, "owner", insert.replace("?", f"'{digest}'")).refusal == "23505"
    _assert_same(scene, insert, digest, "00" * 32, name="teammate")
    for login in LOGINS:
        own_conflict = scene.hear(login, "teammate", insert.replace("?", f"'{digest}'"))
        assert own_conflict.refusal == "23505"
        assert str(scene.cast.owner.user_id) not in own_conflict.said


def test_a_lock_on_a_row_is_not_felt_by_who_does_not_see_it(scene: Scene) -> None:
    """The owner holds the row; the control, who is the owner elsewhere, meets the lock."""
    probe = "SELECT text FROM app.blocks FOR UPDATE NOWAIT"
    held, looked = threading.Event(), threading.Event()

    def hold() -> None:
        with scene.login("keepline_app") as connection, connection.transaction(force_rollback=True):
            token = scene.token("owner", connection.info.backend_pid)
            connection.execute("SELECT set_config('keepline.identity', %s, true)", (token,))
            connection.execute("SELECT FROM app.blocks FOR UPDATE")
            held.set()
            looked.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(30)
        for login in LOGINS:
            assert scene.hear(login, "owner", probe).refusal == "55P03"
            for name in ("teammate", "stranger"):
                assert scene.hear(login, name, probe).rows == [("A line of my own",)]
            assert scene.hear(login, "nobody", probe).rows == []
    finally:
        looked.set()
        holder.join()
