"""The identity key is changed in two steps, and nobody is locked out between them."""

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tenancy.clock import SystemClock
from tenancy.database import operator_login
from tenancy.errors import SetupError
from tenancy.identity import Signer
from tenancy.keys import SigningKey, signing_keys
from tenancy.migrate import migrate
from tenancy.setting_values import KeyPair
from tenancy.settings import ensure_keys
from tests.cast import Cast
from tests.tenancy.app_role import REJECTED, app_connection, seen_blocks
from tests.tenancy.people_at_work import people_at_work
from tests.world import World

NEW = b"a new identity key of more than 32 characters"


@pytest.fixture
def old(world: World) -> Iterator[KeyPair]:
    """The key in force, put back at the end."""
    _, identity_key = ensure_keys(world.settings)
    yield identity_key
    migrate(operator_login(world.settings), signing_keys(identity_key))


def _texts(world: World, cast: Cast, key: bytes) -> list[str]:
    signer = Signer(signing_keys(KeyPair(key, None)), SystemClock())
    with app_connection(world) as connection:
        return seen_blocks(connection, signer.identity_token(cast.owner.identity))


def test_a_rotation_accepts_both_keys_and_then_the_new_one(world: World, cast: Cast, old: KeyPair) -> None:
    assert cast.owner.program.write("Kept").status_code == 200
    login = operator_login(world.settings)
    with pytest.raises(REJECTED):
        _texts(world, cast, NEW)

    migrate(login, signing_keys(KeyPair(NEW, old.current)))
    assert _texts(world, cast, NEW) == _texts(world, cast, old.current) == ["Kept"]
    # A process that still signs with the old key goes on serving.
    assert cast.owner.program.get("/v1/memory/block").get_json()["text"] == "Kept"

    migrate(login, signing_keys(KeyPair(NEW, None)))
    assert _texts(world, cast, NEW) == ["Kept"]
    with pytest.raises(REJECTED):
        _texts(world, cast, old.current)
    assert world.rows("SELECT key_id FROM tenancy.signing_keys") == [(SigningKey(NEW).key_id,)]


def test_nobody_notices_a_rotation_while_they_work(world: World, cast: Cast, old: KeyPair) -> None:
    """Each step of the documented order, under calls through processes of before and after it."""
    login, current = operator_login(world.settings), old.current.decode()
    with ExitStack() as stack:
        people = stack.enter_context(people_at_work(cast, before=world.app))
        migrate(login, signing_keys(KeyPair(NEW, old.current)))
        both = {"KEEPLINE_IDENTITY_KEY": NEW.decode(), "KEEPLINE_IDENTITY_KEY_PREVIOUS": current}
        people.apps["restarted"] = stack.enter_context(world.another_app(**both))
        time.sleep(1)
        del people.apps["before"]
        time.sleep(0.5)  # what was under way there ends
        migrate(login, signing_keys(KeyPair(NEW, None)))
        time.sleep(1)
        people.stop()
    assert set(people.answers) == {("before", 200), ("restarted", 200)}
    assert min(people.answers.values()) > 20


def test_processes_sign_with_the_current_key(old: KeyPair) -> None:
    keys = signing_keys(KeyPair(NEW, old.current))
    token = Signer(keys, SystemClock()).ticket("find_client", {})
    assert token[67:69] == SigningKey(NEW).key_id


def test_a_key_has_its_end(world: World, cast: Cast, old: KeyPair) -> None:
    """An operator can end a key at a time, without a migrate."""
    assert cast.owner.program.write("Kept").status_code == 200
    assert _texts(world, cast, old.current) == ["Kept"]
    with world.superuser() as connection:
        connection.execute("UPDATE tenancy.signing_keys SET not_after = clock_timestamp()")
        try:
            with pytest.raises(REJECTED):
                _texts(world, cast, old.current)
        finally:
            connection.execute("UPDATE tenancy.signing_keys SET not_after = 'infinity'")


def test_two_keys_of_one_name_are_refused() -> None:
    """One pair in 1,296 has it; a search finds one."""
    secrets = (f"{number:032}".encode() for number in range(100_000))
    first = next(secrets)
    twin = next(secret for secret in secrets if SigningKey(secret).key_id == SigningKey(first).key_id)
    with pytest.raises(SetupError, match="share a key id by chance; choose another new key"):
        signing_keys(KeyPair(first, twin))


def test_a_process_whose_key_the_database_does_not_know_is_not_ready_and_says_so(world: World, cast: Cast) -> None:
    """It is not the database that is away, and not the caller's credential that is wrong."""
    token = cast.owner.program.token
    with world.another_app(KEEPLINE_IDENTITY_KEY="another identity key of 40 characters...") as app:
        ready = app.test_client().get("/readyz")
        asked = app.test_client().get("/v1/prompt", headers={"Authorization": f"Bearer {token}"})
    for reply in (ready, asked):
        assert (reply.status_code, reply.get_json()["code"]) == (503, "identity_rejected")
        assert "keepline migrate" in reply.get_json()["detail"]
