"""The identity variable, set by every way there is: a token works for whom it was signed, or it is an error."""

from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest

from tests.tenancy.app_role import REJECTED, Connection, bind, seen_blocks, signer_of
from tests.tenancy.hostile.attackers import LOGINS, SECRET, Scene

TEXTS = "SELECT text FROM app.blocks"
WAYS = {
    "SET LOCAL": "SET LOCAL keepline.identity = '{}'",
    "SET": "SET keepline.identity = '{}'",
    "SET SESSION": "SET SESSION keepline.identity TO '{}'",
    "SET quoted": """SET LOCAL "keepline"."identity" = '{}'""",
    "SET in capitals": "SET LOCAL KEEPLINE.IDENTITY = '{}'",
    "SET quoted capitals": """SET LOCAL "KeepLine"."Identity" = '{}'""",
    "SET escaped": "SET LOCAL keepline.identity = E'{}'",
    "SET by code points": "SET LOCAL U&\"keepline\".identity = '{}'",
    "set_config for the transaction": "SELECT set_config('keepline.identity', '{}', true)",
    "set_config for the session": "SELECT set_config('keepline.identity', '{}', false)",
    "set_config in capitals": "SELECT set_config('KEEPLINE.Identity', '{}', true)",
    "set_config qualified": "SELECT pg_catalog.set_config('keepline' || '.identity', '{}', pg_backend_pid() > 0)",
    "prepared": "PREPARE p (text) AS SELECT set_config('keepline.identity', $1, true); EXECUTE p ('{}'); DEALLOCATE p",
    "in a common table expression": "WITH w AS MATERIALIZED (SELECT set_config('keepline.identity', '{}', true)) "
    "SELECT * FROM w",
}
NEARLY = ("keepline.identit", "keepline.identity2", "keepline.identity_", "keepline.user_id", "keepline.org_id",
          "keepline.roles", "app.identity", "request.jwt.claims", "keepline.ıdentity", "kеepline.identity")  # fmt: skip
NOBODY = ("RESET keepline.identity", "RESET ALL", "SET keepline.identity TO DEFAULT",
          "SET LOCAL keepline.identity = ''", "SELECT set_config('keepline.identity', NULL, true)")  # fmt: skip
NO_TOKENS = (" ", "\t", "\n", "0", "null", "NULL", "default", "owner", "{}", "*", "%", "'", "../", "\u200b", "\ufeff",
             "\U0001f600" * 40, "kl1", "-1", "true", "00000000-0000-0000-0000-000000000000", "x" * 100_000)  # fmt: skip


def _of_another_backend(scene: Scene) -> str:
    with scene.login("keepline_app") as other:
        return str(scene.token("owner", other.info.backend_pid))


def _stolen(scene: Scene) -> dict[str, str]:
    """Tokens of the owner that somebody else may have got hold of or made up."""
    owner, stranger = scene.cast.owner.identity, scene.cast.stranger.identity
    good = str(scene.token("stranger"))
    return {
        "replayed after its end": signer_of(scene.world, -timedelta(seconds=61)).identity_token(owner),
        "replayed on another backend": _of_another_backend(scene),
        "with the owner's ids": good.replace(str(stranger.org_id), str(owner.org_id))
        .replace(str(stranger.user_id), str(owner.user_id)),
        "with the owner's payload": good[:64] + str(scene.token("owner"))[64:],
        "with no backend": _of_another_backend(scene)[:79] + "00000000" + _of_another_backend(scene)[87:],
    }  # fmt: skip


def _read(connection: Connection, *statements: str) -> list[tuple[str, ...]]:
    with connection.transaction():
        for statement in statements:
            connection.execute(statement.encode())
        return connection.execute(TEXTS).fetchall()


@pytest.mark.parametrize("login", LOGINS)
@pytest.mark.parametrize("way", WAYS)
def test_no_way_of_setting_it_makes_a_stolen_token_good(scene: Scene, login: str, way: str) -> None:
    with scene.login(login) as connection:
        good = WAYS[way].format(scene.token("owner", connection.info.backend_pid))
        [(text,)] = _read(connection, good)
        assert SECRET in text
    for name, token in _stolen(scene).items():
        with scene.login(login) as connection, pytest.raises(REJECTED):
            pytest.fail(f"{name}: {_read(connection, WAYS[way].format(token))}")


def test_a_token_spliced_from_two_is_an_error(scene: Scene) -> None:
    """At every place: the beginning of one and the end of the other, both good."""
    with scene.login("keepline_app") as connection:
        owner, stranger = (str(scene.token(name, connection.info.backend_pid)) for name in ("owner", "stranger"))
        assert len(seen_blocks(connection, owner)) == len(seen_blocks(connection, stranger)) == 1
        for place in range(1, max(len(owner), len(stranger))):
            for spliced in (owner[:place] + stranger[place:], stranger[:place] + owner[place:]):
                if spliced not in (owner, stranger):
                    with pytest.raises(REJECTED):
                        seen_blocks(connection, spliced)


@pytest.mark.parametrize("name", NEARLY)
def test_another_name_is_nobodys_identity(scene: Scene, name: str) -> None:
    with scene.login("keepline_app") as connection:
        token = scene.token("owner", connection.info.backend_pid)
        try:
            connection.execute("SELECT set_config(%s, %s, false)", (name, token))
        except psycopg.errors.InvalidName:
            return
        assert connection.execute(TEXTS).fetchall() == []


@pytest.mark.parametrize("statement", NOBODY)
def test_taking_it_away_leaves_nobody(scene: Scene, statement: str) -> None:
    with scene.login("keepline_app") as connection:
        connection.execute("SELECT set_config('keepline.identity', %s, false)", (scene.token("owner"),))
        assert len(connection.execute(TEXTS).fetchall()) == 1
        assert _read(connection, statement) == []
        connection.execute("DISCARD ALL")
        assert connection.execute(TEXTS).fetchall() == []


@pytest.mark.parametrize("value", NO_TOKENS, ids=lambda value: repr(value)[:20])
def test_what_is_no_token_is_an_error_and_the_connection_goes_on(scene: Scene, value: str) -> None:
    with scene.login("keepline_app") as connection:
        with pytest.raises(REJECTED):
            seen_blocks(connection, value)
        assert len(seen_blocks(connection, scene.token("owner", connection.info.backend_pid))) == 1


def test_a_nul_never_reaches_the_server(scene: Scene) -> None:
    with scene.login("keepline_app") as connection:
        with pytest.raises(psycopg.DataError):
            bind(connection, f"{scene.token('owner')}\0")
        assert connection.execute(TEXTS).fetchall() == []


@pytest.mark.parametrize("login", LOGINS)
def test_an_identity_at_log_in_is_no_better(scene: Scene, login: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By `options` of the URL or by PGOPTIONS: it holds for the session, and expires and is verified like any other."""
    good = f"-c keepline.identity={scene.token('owner')}"
    with scene.login(login, options=good) as connection:
        assert len(connection.execute(TEXTS).fetchall()) == 1
    for name, token in _stolen(scene).items():
        monkeypatch.setenv("PGOPTIONS", f"-c keepline.identity={token}")
        with scene.login(login) as connection, pytest.raises(REJECTED):
            pytest.fail(f"{name}: {connection.execute(TEXTS).fetchall()}")


@pytest.mark.parametrize("login", LOGINS)
def test_nobody_gives_a_login_or_a_database_an_identity(scene: Scene, login: str) -> None:
    """Not even the own login, whose other settings nothing protects: a parameter of no extension is a superuser's."""
    other = next(name for name in LOGINS if name != login)
    for target in (
        f"ROLE {login}",
        f"ROLE {login} IN DATABASE keepline",
        "DATABASE keepline",
        f"ROLE {other}",
        "ROLE ALL",
    ):
        refused = scene.hear(login, "stranger", f"ALTER {target} SET keepline.identity = '{scene.token('stranger')}'")
        assert refused.refusal == "42501", target


def test_an_unknown_person_and_org_see_nothing(scene: Scene) -> None:
    """Rightly signed, for ids that are nowhere: as a user who was removed a moment ago."""
    owner = scene.cast.owner.identity
    signer = signer_of(scene.world)
    with scene.login("keepline_app") as connection:
        for org, user in ((owner.org_id, uuid4()), (uuid4(), owner.user_id), (uuid4(), uuid4())):
            identity = type(owner)(org, user, owner.roles, owner.team_ids)
            assert seen_blocks(connection, signer.identity_token(identity, connection.info.backend_pid)) == []
        assert len(seen_blocks(connection, signer.identity_token(owner, connection.info.backend_pid))) == 1
