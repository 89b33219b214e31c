"""At a psql prompt, logged in as the app's role, an identity can be neither guessed nor made."""

import subprocess
import sys

import pytest

from tenancy.embedded import program
from tenancy.settings import PROJECT_FOLDER, environment_for
from tests.cast import Cast
from tests.tenancy.app_role import app_connection, signer_of
from tests.world import World

TEXT = "Only mine"
COUNT = "SELECT count(*) FROM app.blocks"


@pytest.fixture
def block(cast: Cast) -> None:
    assert cast.owner.program.write(TEXT).status_code == 200


def _conninfo(world: World, *options: str) -> str:
    """What `keepline psql --print` says, from a shell with the same environment."""
    command = [sys.executable, "-m", "commands.main", "psql", "--print", *options]
    printed = subprocess.run(
        command, cwd=PROJECT_FOLDER, env=environment_for(world.settings), capture_output=True, text=True, check=True
    )
    assert len(printed.stdout.splitlines()) == 1
    return printed.stdout.strip()


def _typed(conninfo: str, *statements: str) -> subprocess.CompletedProcess[str]:
    commands = [argument for statement in statements for argument in ("-c", statement)]
    return subprocess.run(
        [program("psql"), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", *commands, conninfo],
        capture_output=True,
        text=True,
        check=False,
    )


def _bound(token: str) -> str:
    return f"SET keepline.identity = '{token}'"


@pytest.mark.usefixtures("block")
def test_without_an_identity_there_is_nothing_to_see(world: World) -> None:
    typed = _typed(_conninfo(world), "SELECT current_user", COUNT)
    assert (typed.returncode, typed.stdout.split()) == (0, ["keepline_app", "0"])


@pytest.mark.usefixtures("block")
def test_a_made_up_identity_is_an_error(world: World, cast: Cast) -> None:
    conninfo = _conninfo(world)
    good = signer_of(world).identity_token(cast.owner.identity)
    assert _typed(conninfo, _bound(good), COUNT).stdout.split() == ["SET", "1"]
    stolen = good.replace(str(cast.owner.user_id), str(cast.teammate.user_id))
    for forged in ("member", str(cast.owner.user_id), "0" * 64 + good[64:], stolen):
        typed = _typed(conninfo, _bound(forged), COUNT)
        assert "ERROR:  28000: keepline identity rejected" in typed.stderr
        assert typed.stdout.split() == ["SET"]


@pytest.mark.usefixtures("block")
def test_the_token_of_another_connection_is_an_error(world: World, cast: Cast) -> None:
    with app_connection(world) as connection:
        token = signer_of(world).identity_token(cast.owner.identity, connection.info.backend_pid)
        typed = _typed(_conninfo(world), _bound(token), COUNT)
    assert "ERROR:  28000: keepline identity rejected" in typed.stderr


@pytest.mark.usefixtures("block")
def test_the_owner_of_the_tables_sees_nothing_either(world: World) -> None:
    typed = _typed(_conninfo(world, "--role", "owner"), "SELECT current_user", COUNT)
    assert typed.stdout.split() == ["keepline_owner", "0"]


@pytest.mark.parametrize(
    "statement",
    [
        "SET ROLE keepline_owner",
        "SET SESSION AUTHORIZATION postgres",
        "SET session_replication_role = replica",
        "SELECT * FROM tenancy.signing_keys",
        "ALTER TABLE app.blocks DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own_block ON app.blocks",
        "SET row_security = off; SELECT text FROM app.blocks",
        "ALTER ROLE keepline_app SET track_activities = on",
        "SET track_activities = on",
    ],
)
@pytest.mark.usefixtures("block")
def test_the_rules_cannot_be_lifted(world: World, statement: str) -> None:
    typed = _typed(world.app_conninfo(), statement)
    assert typed.returncode != 0
    assert "42501" in typed.stderr
    assert TEXT not in typed.stdout
