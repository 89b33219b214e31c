"""A transaction sees what its signed identity owns; anything else that is bound is nobody or an error."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from uuid import UUID

import pytest

from tenancy.identity import LIFETIME_SECONDS
from tenancy.keys import SigningKey, signing_keys
from tenancy.settings import ensure_keys
from tests.cast import Cast
from tests.tenancy.app_role import REJECTED, Connection, app_connection, bind, seen_blocks, signer_of
from tests.world import World

TEXT = "Only mine"
Alteration = Callable[[str], str]


@pytest.fixture
def connection(world: World) -> Iterator[Connection]:
    with app_connection(world) as opened:
        yield opened


@pytest.fixture
def token(world: World, cast: Cast, connection: Connection) -> str:
    """A good token of the owner, who has a block, for this connection; the control of every refusal below."""
    assert cast.owner.program.write(TEXT).status_code == 200
    good = signer_of(world).identity_token(cast.lead.identity, connection.info.backend_pid)
    assert seen_blocks(connection, good) == []
    good = signer_of(world).identity_token(cast.owner.identity, connection.info.backend_pid)
    assert seen_blocks(connection, good) == [TEXT]
    return good


def _replaced(start: int, part: str) -> Alteration:
    """Overwrite what stands at a place, counted from one as in the SQL."""
    return lambda token: token[: start - 1] + part + token[start - 1 + len(part) :]


ALTERED: dict[str, Alteration] = {
    "MAC": _replaced(1, "0" * 64),
    "version": _replaced(65, "kl2"),
    "version of a ticket": _replaced(65, "kt1"),
    "key id": _replaced(68, "zz"),
    "expiry": _replaced(70, "9999999999"),
    "expiry that is no number, under an unknown key": lambda t: _replaced(70, "tomorrow..")(_replaced(68, "--")(t)),
    "backend": _replaced(80, "00000000"),
    "org": _replaced(88, str(UUID(int=1))),
    "user": _replaced(124, str(UUID(int=1))),
    "roles": _replaced(160, "00000003"),
    "teams": lambda t: t.replace("{", "{" + str(UUID(int=1)) + ",", 1),
    "led teams": lambda t: t.removesuffix("}") + str(UUID(int=1)) + "}",
    "one character more": lambda t: t + "0",
    "a line end more": lambda t: t + "\n",
    "a space before": lambda t: " " + t,
    "upper case": str.upper,
    "MAC in upper case": lambda t: t[:64].upper() + t[64:],
    "MAC alone": lambda t: t[:64],
    "payload alone": lambda t: t[64:],
    "spaces": lambda _: "   ",
    "a word": lambda _: "member",
    "SQL": lambda _: "' OR true --",
    "letters beyond ASCII": lambda t: t[:-1] + "é",
    "a character beyond the BMP in the MAC": lambda t: "\U0001f600" + t[1:],
}


@pytest.mark.parametrize("part", ALTERED)
def test_an_altered_token_is_an_error(connection: Connection, token: str, part: str) -> None:
    altered = ALTERED[part](token)
    assert altered != token
    with pytest.raises(REJECTED):
        seen_blocks(connection, altered)


def test_every_single_character_counts(connection: Connection, token: str) -> None:
    for place, character in enumerate(token):
        altered = token[:place] + ("0" if character != "0" else "1") + token[place + 1 :]
        with pytest.raises(REJECTED):
            seen_blocks(connection, altered)


def test_every_truncation_is_an_error(connection: Connection, token: str) -> None:
    for length in range(1, len(token)):
        with pytest.raises(REJECTED):
            seen_blocks(connection, token[:length])


@pytest.mark.parametrize("nothing", ["", None], ids=["empty", "null"])
@pytest.mark.usefixtures("token")
def test_empty_is_nobody(connection: Connection, nothing: str | None) -> None:
    assert seen_blocks(connection, nothing) == []


@pytest.mark.usefixtures("token")
def test_unbound_is_nobody(connection: Connection) -> None:
    assert connection.execute("SELECT text FROM app.blocks").fetchall() == []
    with connection.transaction():
        assert connection.execute("SELECT text FROM app.blocks").fetchall() == []


@pytest.mark.usefixtures("token")
def test_a_token_lives_sixty_seconds_at_most(world: World, cast: Cast, connection: Connection) -> None:
    def signed_before(seconds: float) -> str:
        return signer_of(world, -timedelta(seconds=seconds)).identity_token(cast.owner.identity)

    assert LIFETIME_SECONDS == 55
    assert seen_blocks(connection, signed_before(50)) == [TEXT]
    with pytest.raises(REJECTED):
        seen_blocks(connection, signed_before(55))


@pytest.mark.usefixtures("token")
def test_a_clock_that_is_ahead_makes_no_token_live_longer(world: World, cast: Cast, connection: Connection) -> None:
    """The database's clock decides: what would still be good in over 60 s is no token now."""
    early = signer_of(world, timedelta(seconds=4)).identity_token(cast.owner.identity)
    assert seen_blocks(connection, early) == [TEXT]
    for ahead in (7, 3600):
        with pytest.raises(REJECTED):
            seen_blocks(connection, signer_of(world, timedelta(seconds=ahead)).identity_token(cast.owner.identity))


@pytest.mark.usefixtures("token")
def test_a_token_expires_within_its_transaction(world: World, cast: Cast, connection: Connection) -> None:
    """The clock of expiry runs on inside a transaction, whose own now() stands still."""
    nearly_over = signer_of(world, -timedelta(seconds=50)).identity_token(cast.owner.identity)
    with connection.transaction(force_rollback=True):
        bind(connection, nearly_over)
        assert connection.execute("SELECT count(*) FROM app.blocks").fetchall() == [(1,)]
        time.sleep(5.1)
        with pytest.raises(REJECTED), connection.transaction():
            connection.execute("SELECT count(*) FROM app.blocks")


def test_a_token_of_another_backend_is_an_error(world: World, token: str) -> None:
    with app_connection(world) as other, pytest.raises(REJECTED):
        seen_blocks(other, token)


@pytest.mark.usefixtures("token")
def test_a_token_for_a_pooler_works_on_any_backend(world: World, cast: Cast) -> None:
    anywhere = signer_of(world).identity_token(cast.owner.identity)
    for _ in range(2):
        with app_connection(world) as other:
            assert seen_blocks(other, anywhere) == [TEXT]


@pytest.mark.usefixtures("token")
def test_a_ticket_is_no_identity(world: World, connection: Connection) -> None:
    with pytest.raises(REJECTED):
        seen_blocks(connection, signer_of(world).ticket("find_client", {}))


@pytest.mark.parametrize("version", ["kt1", "kl2", "kl0"])
def test_a_signed_token_of_another_version_is_an_error(
    world: World, connection: Connection, token: str, version: str
) -> None:
    """Even the holder of the key can't pass off one kind of signed text as another."""
    key = signing_keys(ensure_keys(world.settings)[1])[0]
    assert key.sign(token[64:]) == token
    with pytest.raises(REJECTED):
        seen_blocks(connection, key.sign(token[64:].replace("kl1", version, 1)))


def test_a_token_of_another_key_is_an_error(connection: Connection, token: str) -> None:
    """Also when its signer names the key that is in force."""
    with pytest.raises(REJECTED):
        seen_blocks(connection, SigningKey(b"another secret of enough characters").sign(token[64:]))


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO app.blocks (text) VALUES ('x')",
        "UPDATE app.blocks SET text = 'x'",
        "DELETE FROM app.blocks",
        "SELECT tenancy.append_audit('c', 'user', 'a.b', 'block', null, 'done', '{}', 'r', '[]')",
        "SELECT tenancy.remove_audit_details(null, null, null)",
        "SELECT tenancy.expire_audit_details('{}', now())",
    ],
)
def test_no_statement_runs_under_a_forged_identity(
    world: World, connection: Connection, token: str, statement: str
) -> None:
    forged = ALTERED["user"](token)
    connection.execute("BEGIN")
    bind(connection, forged)
    with pytest.raises(REJECTED):
        connection.execute(statement.encode())
    connection.execute("ROLLBACK")
    assert world.rows("SELECT text FROM app.blocks") == [(TEXT,)]
    assert world.rows("SELECT count(*) FROM app.audit_details") == [(1,)]
