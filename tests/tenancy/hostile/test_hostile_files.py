"""Files, programs, large objects and SQL run from a string are out of reach."""

import pytest

from tests.tenancy.hostile.attackers import LOGINS, Scene

DENIED = "42501"
STATEMENTS = (
    "COPY (SELECT 1) TO PROGRAM 'cat'",
    "COPY (SELECT 1) TO '/tmp/keepline-copied'",
    "COPY app.blocks TO '/tmp/keepline-copied'",
    "COPY app.blocks (text) FROM '/etc/hostname'",
    "COPY app.blocks (text) FROM PROGRAM 'id'",
    "SELECT pg_read_file('postgresql.conf')",
    "SELECT pg_read_binary_file('global/pg_control')",
    "SELECT pg_ls_dir('.')",
    "SELECT * FROM pg_ls_waldir()",
    "SELECT * FROM pg_ls_logdir()",
    "SELECT * FROM pg_ls_tmpdir()",
    "SELECT pg_stat_file('postgresql.conf')",
    "SELECT pg_current_logfile()",
    "SELECT * FROM pg_hba_file_rules",
    "SELECT * FROM pg_file_settings",
    "SELECT * FROM pg_config",
    "SELECT * FROM pg_shmem_allocations",
    "SELECT * FROM pg_backend_memory_contexts",
    "SELECT pg_reload_conf()",
    "SELECT pg_rotate_logfile()",
    "SELECT pg_switch_wal()",
    "SELECT pg_create_restore_point('x')",
    "SELECT pg_backup_start('x')",
    "SELECT lo_creat(-1)",
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT lo_import('/etc/hostname')",
    "SELECT lo_export(1, '/tmp/keepline-copied')",
    "SELECT lo_get(1)",
    "SELECT lo_open(1, 262144)",
    "SELECT lo_truncate(1, 1)",
    "SELECT lo_unlink(1)",
    "SELECT loread(0, 1)",
    "SELECT lowrite(0, 'x')",
    "SELECT lo_put(1, 0, 'x')",
    "SELECT * FROM pg_largeobject",
    "SELECT query_to_xml('TABLE app.blocks', true, true, '')",
    "SELECT query_to_xmlschema('TABLE app.blocks', true, true, '')",
    "SELECT table_to_xml('app.blocks', true, true, '')",
    "SELECT schema_to_xml('app', true, true, '')",
    "SELECT database_to_xml(true, true, '')",
    "SELECT cursor_to_xml('c', 1, true, true, '')",
    "SELECT * FROM ts_stat('SELECT to_tsvector(text) FROM app.blocks')",
    "SELECT ts_rewrite('a'::tsquery, 'SELECT text::tsquery, text::tsquery FROM app.blocks')",
    "SELECT pg_logical_emit_message(true, 'x', 'x')",
    "SELECT pg_create_logical_replication_slot('x', 'pgoutput')",
    "SELECT * FROM pg_logical_slot_peek_changes('x', NULL, NULL)",
    "SELECT pg_export_snapshot()",
    "LOAD '$libdir/vector'",
    "CHECKPOINT",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_it_is_denied(scene: Scene, statement: str) -> None:
    for login in LOGINS:
        for name in ("stranger", "nobody"):
            assert scene.hear(login, name, statement).refusal == DENIED, (login, name)


def test_rows_are_not_loaded_past_policies(scene: Scene) -> None:
    stored = scene.of_the_owner()
    for login in LOGINS:
        heard = scene.hear(login, "stranger", "COPY app.blocks (text) FROM STDIN")
        assert heard.refusal == "0A000"
    assert scene.of_the_owner() == stored


def test_there_is_nothing_to_read_by_a_large_object(scene: Scene) -> None:
    """They are listed for everybody; the control shows that one would be, and that it is not read."""
    with scene.world.superuser() as connection:
        [(number,)] = connection.execute("SELECT lo_from_bytea(0, 'x')").fetchall()
        connection.execute(f"GRANT ALL ON LARGE OBJECT {number} TO PUBLIC".encode())
        try:
            for login in LOGINS:
                listed = scene.hear(login, "stranger", "SELECT oid FROM pg_largeobject_metadata")
                assert listed.rows == [(number,)]
                assert scene.hear(login, "stranger", f"SELECT lo_get({number})").refusal == DENIED
        finally:
            connection.execute("SELECT lo_unlink(%s)", (number,))
