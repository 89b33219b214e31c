"""The catalogue tells an app or a worker what the tables are like, and nothing of what or how much is in them."""

import pytest

from tenancy.keys import signing_keys
from tenancy.settings import ensure_keys
from tests.tenancy.hostile.attackers import LOGINS, SECRET, Scene

DENIED = "42501"
WHO = ("stranger", "nobody")
COUNTS = (
    "SELECT reltuples FROM pg_class WHERE relname = 'blocks'",
    "SELECT relpages FROM pg_class WHERE relname = 'blocks'",
    "SELECT relallvisible FROM pg_class WHERE relname = 'blocks'",
    "SELECT c::text FROM pg_class c WHERE relname = 'blocks'",
    "SELECT pg_relation_size('app.blocks')",
    "SELECT pg_relation_size('app.blocks', 'vm')",
    "SELECT pg_table_size('app.blocks')",
    "SELECT pg_indexes_size('app.blocks')",
    "SELECT pg_total_relation_size('app.blocks')",
    "SELECT pg_database_size(current_database())",
    "SELECT pg_tablespace_size('pg_default')",
    "SELECT n_live_tup FROM pg_stat_user_tables WHERE relname = 'blocks'",
    "SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'blocks'",
    "SELECT heap_blks_hit FROM pg_statio_user_tables WHERE relname = 'blocks'",
    "SELECT idx_scan FROM pg_stat_user_indexes WHERE relname = 'blocks'",
    "SELECT pg_stat_get_xact_tuples_returned('app.blocks'::regclass)",
    "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
    "SELECT * FROM pg_stat_activity",
    "SELECT pg_stat_get_backend_idset()",
    "SELECT pg_stat_get_backend_activity(1)",
    "SELECT * FROM pg_stat_replication",
    "SELECT * FROM pg_stat_wal",
    "SELECT * FROM pg_stat_io",
    "SELECT * FROM pg_stat_progress_vacuum",
    "SELECT * FROM pg_locks",
    "SELECT pg_blocking_pids(pg_backend_pid())",
    "SELECT * FROM pg_prepared_xacts",
    "SELECT * FROM pg_replication_slots",
    "SELECT pg_current_snapshot()",
    "SELECT txid_current()",
    "SELECT pg_current_xact_id()",
    "SELECT pg_xact_status('3'::xid8)",
    "SELECT pg_current_wal_lsn()",
    "SELECT pg_control_checkpoint()",
    "SELECT currtid2('app.blocks', '(0,1)')",
)
CONTENT = (
    "SELECT * FROM pg_statistic",
    "SELECT * FROM pg_statistic_ext_data",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_shadow",
    "SELECT * FROM pg_user_mapping",
    "SELECT subconninfo FROM pg_subscription",
    "SELECT * FROM pg_largeobject",
    "SELECT * FROM pg_replication_origin_status",
    "SELECT key_id FROM tenancy.signing_keys",
    "SELECT * FROM tenancy.sign_ins",
)
EMPTY = (
    "SELECT * FROM pg_stats WHERE schemaname IN ('app', 'tenancy')",
    "SELECT * FROM pg_stats_ext",
    "SELECT * FROM pg_stats_ext_exprs",
    "SELECT * FROM pg_prepared_statements",
    "SELECT * FROM pg_cursors",
    "SELECT * FROM pg_listening_channels()",
    "SELECT * FROM information_schema.user_mapping_options",
)
# Reviewed: of the statistics functions, what says nothing of others.
_OWN_BUSINESS = {"pg_stat_clear_snapshot", "pg_stat_force_next_flush", "pg_column_size"}
_PATTERN = "^(pg_stat_.*|pg_.*_size|pg_lock.*|lo_.*|.*_to_xml.*|pg_.*wal_(lsn|summar).*)$"


@pytest.mark.parametrize("statement", [*COUNTS, *CONTENT])
def test_it_is_denied_to_who_serves_and_not_to_a_superuser(scene: Scene, statement: str) -> None:
    for login in LOGINS:
        for name in WHO:
            assert scene.hear(login, name, statement).refusal == DENIED, (login, name)
    scene.world.rows(statement)


@pytest.mark.parametrize("statement", EMPTY)
def test_it_shows_nothing(scene: Scene, statement: str) -> None:
    with scene.world.superuser() as connection:
        connection.execute("ANALYZE app.blocks, app.block_lines, app.users, app.audit_events, app.audit_details")
    assert scene.world.rows("SELECT count(*) > 9 FROM pg_stats WHERE schemaname = 'app'") == [(True,)]
    for login in LOGINS:
        for name in ("owner", *WHO):
            heard = scene.hear(login, name, statement)
            assert (heard.rows, heard.error) == ([], None), (login, name)


def test_the_planner_keeps_no_word_of_a_block(scene: Scene) -> None:
    with scene.world.superuser() as connection:
        connection.execute("ANALYZE app.blocks, app.block_lines, app.audit_details")
    [(samples,)] = scene.world.rows("SELECT coalesce(string_agg(s::text, ''), '') FROM pg_stats s")
    assert "keepline" in str(scene.world.rows("SELECT string_agg(r::text, '') FROM pg_roles r"))
    assert SECRET not in samples


def test_every_function_of_a_kind_is_revoked(scene: Scene) -> None:
    """Also those that a newer PostgreSQL adds."""
    for login in LOGINS:
        callable_ = {
            name
            for (name,) in scene.world.rows(
                "SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace "
                "AND proname ~ %s AND has_function_privilege(%s, oid, 'EXECUTE')",
                _PATTERN,
                login,
            )
        }
        assert callable_ == _OWN_BUSINESS, login


def test_no_source_or_comment_holds_a_key(scene: Scene) -> None:
    keys = signing_keys(ensure_keys(scene.world.settings)[1])
    catalogues = (
        "pg_proc",
        "pg_attrdef",
        "pg_description",
        "pg_policy",
        "pg_settings",
        "pg_db_role_setting",
        "pg_constraint",
    )
    for login in LOGINS:
        for catalogue in catalogues:
            said = scene.hear(login, "stranger", f"SELECT c::text FROM {catalogue} c").said
            assert len(said) > 50, catalogue
            for key in keys:
                assert not any(part.hex() in said for part in (key.key, key.inner_pad, key.outer_pad)), catalogue


def test_a_busy_session_of_the_owner_shows_no_token(scene: Scene) -> None:
    """Not even to a superuser, who may look; who serves may not."""
    with scene.login("keepline_app") as busy, busy.transaction():
        token = str(scene.token("owner", busy.info.backend_pid))
        busy.execute("SELECT set_config('keepline.identity', %s, true)", (token,))
        assert len(busy.execute("SELECT text FROM app.blocks").fetchall()) == 1
        for login in LOGINS:
            for name in WHO:
                for looking in ("SELECT * FROM pg_stat_activity", "SELECT * FROM pg_stat_get_activity(NULL)"):
                    heard = scene.hear(login, name, looking)
                    assert heard.refusal == DENIED
                    assert token[:64] not in heard.said
        [(shown,)] = scene.world.rows("SELECT a::text FROM pg_stat_activity a WHERE pid = %s", busy.info.backend_pid)
        assert "keepline_app" in shown
        assert token[:64] not in shown
