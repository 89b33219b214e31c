"""A second opinion: pgrls, which knows nothing of Keepline, finds no fault in the policies but those excused here.

Its rules look at names and syntax that others use; what holds here, the lints of `sql/lints` say. Its prover decides
nothing about policies that call functions of their own, so that only its linter is asked.
"""

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict

from tenancy.database import operator_login
from tenancy.keys import signing_keys
from tenancy.migrate import migrate
from tenancy.settings import ensure_keys
from tests.world import World

# What a rule says of everything here, and why that is as it should be.
EXCUSED = {
    "PERF003": "it wants an index that begins with user_id; ours begin with org_id, user_id, which serves both",
    "SEC007": "it recommends restrictive policies; each of ours begins with the org, which a lint sees to",
    "SEC014": "the functions of the guard run as it on purpose, and test_catalogue_rights.py reviews who calls them",
}
# What a rule says of policies for roles that nobody logs in as: the guard, whose functions check a ticket or the
# identity, and the operator's role, whose work spans orgs.
EXCUSED_FOR_NOBODYS_LOGIN = {"SEC005", "SEC008", "SEC028", "SEC038"}
# Tables that no login reaches: a lint sees to the grants.
EXCUSED_WITHOUT_POLICIES = "SEC001"


def _found(world: World, folder: Path) -> set[tuple[str, str]]:
    """Rule and object of everything that pgrls reports and nothing excuses."""
    parts = conninfo_to_dict(world.server.conninfo("postgres"))
    url = f"postgresql://{parts['user']}@/{parts['dbname']}?host={quote(str(parts['host']))}&port={parts['port']}"
    report = folder / "report.json"
    command = ["lint", "--database-url", url, "--schemas", "app,tenancy,public", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "pgrls", *command, "--output", str(report)],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert report.exists(), done.stderr
    of_logins = {
        f"app.{table}.{policy}"
        for table, policy in world.rows(
            "SELECT tablename, policyname FROM pg_policies "
            "WHERE NOT roles <@ '{keepline_guard,keepline_maint,keepline_purge}'"
        )
    }
    reached_by_nobody = {
        name
        for (name,) in world.rows(
            "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'tenancy'::regnamespace "
            "OR c.oid = 'app.alembic_version'::regclass"
        )
    }
    said = {(found["rule_id"], found["location"]) for found in json.loads(report.read_text("utf-8"))["violations"]}
    assert set(EXCUSED) | EXCUSED_FOR_NOBODYS_LOGIN | {EXCUSED_WITHOUT_POLICIES} <= {rule for rule, _ in said}
    return {
        (rule, place)
        for rule, place in said
        if rule not in EXCUSED
        and not (rule in EXCUSED_FOR_NOBODYS_LOGIN and place not in of_logins)
        and not (rule == EXCUSED_WITHOUT_POLICIES and place in reached_by_nobody)
    }


def test_it_finds_nothing_that_is_not_excused(world: World, tmp_path: Path) -> None:
    assert _found(world, tmp_path) == set()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("ALTER POLICY own_org ON app.orgs USING (true)", ("SEC008", "app.orgs.own_org")),
        ("CREATE POLICY forgotten ON app.providers USING (true)", ("SEC003", "app.providers.forgotten")),
        ("ALTER TABLE app.blocks NO FORCE ROW LEVEL SECURITY", ("SEC002", "app.blocks")),
        ("ALTER TABLE app.blocks DISABLE ROW LEVEL SECURITY", ("SEC032", "app.blocks")),
    ],
)
def test_it_finds_what_is_wrong(world: World, tmp_path: Path, statement: str, found: tuple[str, str]) -> None:
    try:
        with world.superuser() as connection:
            connection.execute(statement.encode())
        assert found in _found(world, tmp_path)
    finally:
        migrate(operator_login(world.settings), signing_keys(ensure_keys(world.settings)[1]))
