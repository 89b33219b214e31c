"""A change of the secret key keeps what is known about each line, and what is sealed."""

from collections.abc import Callable
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.audit.rules import Author, Writer
from memory.block.store import BlockStore, Origin
from tenancy.database import operator_login
from tenancy.keys import ClosingTags, SecretBox, digest_line
from tenancy.migrate import as_maintainer
from tenancy.registration import reseal_client_secrets
from tenancy.setting_values import KeyPair
from tenancy.settings import ensure_keys
from tests.cast import Cast
from tests.world import World

OLD, NEW = b"the old secret key of 32 characters", b"the new secret key of 32 characters"
BEFORE, ROTATING, AFTER = KeyPair(OLD, None), KeyPair(NEW, OLD), KeyPair(NEW, None)
ORIGIN = Origin("user_edit", "stated")
AUTHOR = Author(Writer.USER, "test", "r-1")
Ids = Callable[[KeyPair], dict[str, UUID]]
Write = Callable[[KeyPair, str], None]


def _store(world: World, key: KeyPair) -> BlockStore:
    return BlockStore(ClosingTags(key), world.clock)


@pytest.fixture
def ids(world: World, cast: Cast) -> Ids:
    """The ids of the owner's lines by text, read with a key."""

    def read(key: KeyPair) -> dict[str, UUID]:
        owner = cast.owner.identity
        with world.services.binder.bound(owner) as connection:
            return {line.text: line.id for line in _store(world, key).read(connection, owner).lines}

    return read


@pytest.fixture
def write(world: World, cast: Cast) -> Write:
    def rewrite(key: KeyPair, text: str) -> None:
        owner = cast.owner.identity
        with world.services.binder.bound(owner) as connection:
            _store(world, key).rewrite(connection, owner, AUTHOR, text, ORIGIN)

    return rewrite


def test_lines_keep_their_ids_through_a_rotation(ids: Ids, write: Write) -> None:
    write(BEFORE, "First\nSecond\nThird")
    made = ids(BEFORE)
    assert set(made) == {"First", "Second", "Third"}
    assert ids(ROTATING) == made
    write(ROTATING, "First\nThird\nFourth")
    kept = ids(ROTATING)
    assert set(kept) == {"First", "Third", "Fourth"}
    assert {text: kept[text] for text in ("First", "Third")} == {text: made[text] for text in ("First", "Third")}
    assert ids(AFTER) == kept


def test_a_line_that_the_user_removes_after_a_rotation_is_gone_from_the_trail(
    world: World, ids: Ids, write: Write
) -> None:
    write(BEFORE, "Stays\nGoes")
    write(AFTER, "Stays")
    assert set(ids(AFTER)) == {"Stays"}
    assert world.rows("SELECT text FROM app.audit_details") == [("Stays",)]


def test_every_user_has_a_key_of_their_own(world: World, cast: Cast) -> None:
    """So that equal lines of two users have nothing in common that is stored."""
    for person in (cast.owner, cast.teammate, cast.stranger):
        person.program.write("- The same line.")
    digests = world.rows("SELECT DISTINCT digest FROM app.block_lines")
    keys = world.rows("SELECT DISTINCT line_key FROM app.users")
    assert len(digests) == 3
    assert len(keys) == len(world.rows("SELECT 1 FROM app.users")) >= 3


@given(text=st.text(max_size=50), other=st.text(max_size=50), key=st.binary(min_size=32, max_size=32))
def test_digests_are_of_one_line_of_one_user(text: str, other: str, key: bytes) -> None:
    digest = digest_line(key, text)
    assert len(digest) == 32
    assert (digest == digest_line(key, other)) == (text == other)
    assert digest != digest_line(bytes(byte ^ 1 for byte in key), text)


def test_migrate_seals_client_secrets_anew_during_a_rotation(world: World) -> None:
    """Afterwards the old key is not needed any more."""
    login = operator_login(world.settings)
    sealed = """SELECT client_secret FROM app.providers p JOIN app.orgs o ON o.org_id = p.org_id
      WHERE o.slug IN ('acme', 'birch') ORDER BY p.id"""
    was = [bytes(secret) for (secret,) in world.rows(sealed)]
    old, _ = ensure_keys(world.settings)
    rotating = KeyPair(NEW, old.current)
    try:
        as_maintainer(login, lambda connection: reseal_client_secrets(connection, SecretBox(rotating)))
        now = [bytes(secret) for (secret,) in world.rows(sealed)]
        opened = {SecretBox(AFTER).open(secret) for secret in now}
        assert opened == {world.demo.web_client_secret.encode()}
        assert not set(now) & set(was)
    finally:
        back = SecretBox(KeyPair(old.current, NEW))
        as_maintainer(login, lambda connection: reseal_client_secrets(connection, back))


@given(value=st.binary(max_size=200))
def test_what_the_old_key_sealed_opens_during_a_rotation(value: bytes) -> None:
    sealed = SecretBox(BEFORE).seal(value)
    assert SecretBox(ROTATING).open(sealed) == value
    assert SecretBox(AFTER).open(sealed) is None
    assert SecretBox(AFTER).open(SecretBox(ROTATING).seal(value)) == value
    assert SecretBox(BEFORE).open(sealed[:-1] + b"A") is None or not value
