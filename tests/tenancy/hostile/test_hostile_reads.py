"""However a statement is put, it says nothing of the owner's rows to anybody else, not even by an error.

Each statement here tells the owner the secret word, in a row or in the text of an error; that is its control.
"""

import pytest

from tests.tenancy.hostile.attackers import LOGINS, OTHERS, SECRET, Scene

NOT_PARALLEL = "SET LOCAL max_parallel_workers_per_gather = 0"
FORCED_PARALLEL = (
    "SET LOCAL debug_parallel_query = on", "SET LOCAL parallel_setup_cost = 0", "SET LOCAL parallel_tuple_cost = 0",
    "SET LOCAL min_parallel_table_scan_size = 0",
)  # fmt: skip
NO_INDEX = ("SET LOCAL enable_indexscan = off", "SET LOCAL enable_bitmapscan = off", "SET LOCAL enable_tidscan = off")
TAKE = "WHEN MATCHED THEN UPDATE SET text = b.text RETURNING old.text, new.text"

READS: tuple[tuple[str, ...], ...] = (
    ("TABLE app.blocks",),
    ("SELECT b::text FROM app.blocks b",),
    ("SELECT to_jsonb(b) FROM app.blocks b",),
    ("SELECT string_agg(text, ',') FROM app.blocks",),
    ("SELECT array_agg(b) FROM app.blocks b",),
    ("SELECT text FROM ONLY app.blocks",),
    ("SELECT text FROM app.audit_details",),
    ("SELECT text FROM app.blocks TABLESAMPLE SYSTEM (100)",),
    ("SELECT text FROM app.blocks TABLESAMPLE BERNOULLI (100) REPEATABLE (1)",),
    ("SELECT text FROM app.blocks FOR UPDATE",),
    ("SELECT text FROM app.blocks FOR UPDATE SKIP LOCKED",),
    ("SELECT text FROM app.blocks FOR KEY SHARE NOWAIT",),
    ("SELECT text, ctid, xmin, tableoid FROM app.blocks WHERE ctid >= '(0,0)'",),
    (*NO_INDEX, "SELECT text FROM app.blocks"),
    (*FORCED_PARALLEL, "SELECT text FROM app.blocks"),
    (NOT_PARALLEL, "SET LOCAL enable_seqscan = off", "SELECT text FROM app.blocks ORDER BY org_id, user_id"),
    ("SET LOCAL search_path = app", "TABLE blocks"),
    ("SET LOCAL search_path = pg_temp, app, public, pg_catalog", "SELECT text FROM blocks"),
    ("SET LOCAL transaction_read_only = on", "SELECT text FROM app.blocks"),
    ("SELECT (SELECT min(text) FROM app.blocks WHERE text <> own.text OR true) FROM app.blocks own",),
    ("SELECT b.text FROM app.orgs o LEFT JOIN app.blocks b ON true",),
    ("SELECT b.text FROM app.clients c FULL JOIN app.blocks b ON false",),
    ("SELECT l.text FROM generate_series(1, 2) g, LATERAL (SELECT text FROM app.blocks LIMIT 9) l",),
    ("WITH RECURSIVE r AS (SELECT text FROM app.blocks UNION SELECT text FROM r) SELECT * FROM r",),
    ("WITH w AS MATERIALIZED (UPDATE app.blocks SET text = text RETURNING old.*) SELECT text FROM w",),
    ("UPDATE app.blocks SET text = text RETURNING old.text, new.text",),
    ("DELETE FROM app.blocks RETURNING old.text",),
    ("DELETE FROM app.blocks b USING app.orgs o RETURNING b.text",),
    (f"MERGE INTO app.blocks b USING (VALUES (1)) v ON true {TAKE}",),
    (f"MERGE INTO app.blocks b USING app.users u ON u.id IS NOT NULL {TAKE}",),
    ("COPY app.blocks TO STDOUT",),
    ("COPY (SELECT text FROM app.blocks) TO STDOUT",),
    ("COPY app.blocks (text) TO STDOUT",),
    ("DECLARE c CURSOR WITH HOLD FOR SELECT text FROM app.blocks", "FETCH ALL c"),
    ("DECLARE c SCROLL CURSOR FOR TABLE app.blocks", "FETCH LAST c"),
    ("PREPARE p AS TABLE app.blocks", "EXECUTE p", "DEALLOCATE p"),
    ("SET LOCAL plan_cache_mode = force_generic_plan",
     "PREPARE p (text) AS SELECT text FROM app.blocks WHERE text <> $1", "EXECUTE p ('')", "DEALLOCATE p"),
)  # fmt: skip

# What fails on a value names it: in every place of a statement, for every kind of failure.
FAILING_EXPRESSIONS = (
    "text::int", "text::numeric", "text::uuid", "text::date", "text::interval", "text::boolean", "text::inet",
    "text::json", "text::jsonb", "left(text, 7)::regclass", "left(text, 7)::regrole", "text::int4range", "text::uuid[]",
    "text::point", "text::public.vector", "text::pg_lsn", "current_setting(text)", "text::xid8",
    "set_config(text, '', true)", "nextval(left(text, 7))", "has_table_privilege(left(text, 7), 'SELECT')",
    "has_column_privilege('app.blocks', text, 'SELECT')", "encode('x'::bytea, text)", "decode('x', text)",
    "convert('x'::bytea, text, 'UTF8')", "date_trunc(text, now())", "extract(epoch FROM text::timestamptz)",
    "timezone(text, now())", "pg_typeof(text::regtype)", "setseed(text::float8)",
    "row(text)::text::int", "array_fill(text, ARRAY[1])::int[]",
)  # fmt: skip
PLACES = (
    "SELECT {} FROM app.blocks",
    "SELECT count(*) FROM app.blocks WHERE {} IS NULL",
    "SELECT count(*) FROM app.blocks WHERE (CASE WHEN true THEN {} END) IS NULL",
    "SELECT count(*) FROM app.blocks GROUP BY {}",
    "SELECT 1 FROM app.blocks ORDER BY {} LIMIT 1 OFFSET 9",
    "SELECT 1 FROM app.orgs o JOIN app.blocks b ON {} IS NOT NULL",
    "SELECT max({}) OVER () FROM app.blocks",
    "SELECT 1 FROM app.blocks, LATERAL generate_series(1, {}) g",
    "SELECT EXISTS (SELECT FROM app.blocks WHERE ({}, 1) < (1, 1))",
    "UPDATE app.blocks SET text = 'x' WHERE {} = 1",
    "DELETE FROM app.blocks WHERE {} = 1",
    "MERGE INTO app.blocks b USING (VALUES (1)) v ON {} = 1 WHEN MATCHED THEN DELETE",
    "SELECT 1 FROM app.blocks WHERE {} = 1 FOR UPDATE",
)


def _assert_for_the_owner_alone(scene: Scene, *statements: str) -> None:
    stored = scene.of_the_owner()
    for login in LOGINS:
        assert SECRET.lower() in scene.hear(login, "owner", *statements).said.lower()
        for name in OTHERS:
            heard = scene.hear(login, name, *statements)
            assert SECRET.lower() not in heard.said.lower(), (login, name)
            assert str(scene.cast.owner.user_id) not in heard.said, (login, name)
    assert scene.of_the_owner() == stored


@pytest.mark.parametrize("statements", READS, ids=lambda statements: statements[-1])
def test_a_read_finds_own_rows_alone(scene: Scene, statements: tuple[str, ...]) -> None:
    _assert_for_the_owner_alone(scene, *statements)


@pytest.mark.parametrize("expression", FAILING_EXPRESSIONS)
def test_a_failure_names_own_values_alone(scene: Scene, expression: str) -> None:
    _assert_for_the_owner_alone(scene, f"SELECT {expression} FROM app.blocks WHERE text LIKE '{SECRET}%'")


@pytest.mark.parametrize("place", PLACES)
def test_no_place_of_a_statement_runs_on_hidden_rows(scene: Scene, place: str) -> None:
    """The expression is cheap, so that the planner would rather run it before the policy."""
    _assert_for_the_owner_alone(scene, place.format("text::int"))
