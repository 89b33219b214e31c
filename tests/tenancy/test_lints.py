"""The lints of `sql/lints` find nothing in the schema, and each finds what its fixture breaks.

A fixture in `lints/` has the name of its lint. Each of its paragraphs breaks the rule in one way and begins with the
words that the lint must say of it; it is tried in a transaction of a superuser that is rolled back.
"""

import re
from pathlib import Path

import pytest

from tenancy.migrate import SQL_FOLDER
from tests.tenancy.app_role import Connection
from tests.world import World

LINTS = {path.stem: path for path in sorted((SQL_FOLDER / "lints").glob("*.sql"))}
EXCEPTIONS = re.compile(r"<> ALL \(ARRAY\[(.*?)\]\)", re.DOTALL)
FIXTURES = {path.stem: path for path in sorted((Path(__file__).parent / "lints").glob("*.sql"))}


def _rows(connection: Connection, query: str) -> list[tuple[str, str]]:
    """What a lint says: objects, with qualified names, as nothing is found without; and the problem with each."""
    connection.execute("SET search_path = pg_catalog")
    cursor = connection.execute(query.encode())
    assert [column.name for column in cursor.description or ()] == ["object", "problem"]
    return cursor.fetchall()


def _found(connection: Connection, lint: str) -> list[str]:
    return [f"{name} {problem}" for name, problem in _rows(connection, LINTS[lint].read_text("utf-8"))]


def _breaches(lint: str) -> list[tuple[str, str]]:
    """The paragraphs of a fixture: what the lint must say, and the SQL that makes it so."""
    paragraphs = [paragraph.partition("\n") for paragraph in FIXTURES[lint].read_text("utf-8").strip().split("\n\n")]
    assert all(said.startswith("-- ") and statement for said, _, statement in paragraphs), lint
    return [(said.removeprefix("-- "), statement) for said, _, statement in paragraphs]


def test_every_lint_has_a_fixture_and_every_fixture_a_lint() -> None:
    assert len(LINTS) >= 27
    assert set(LINTS) == set(FIXTURES)


@pytest.mark.parametrize("lint", LINTS)
def test_a_lint_says_why_and_finds_nothing(world: World, lint: str) -> None:
    assert LINTS[lint].read_text("utf-8").startswith("-- ")
    with world.superuser() as connection:
        assert _found(connection, lint) == []


def test_every_exception_of_a_lint_is_one(world: World) -> None:
    """Without its list of exceptions a lint reports exactly those, so that no name stays that excuses nothing."""
    texts = {lint: path.read_text("utf-8") for lint, path in LINTS.items()}
    with_exceptions = {lint: text for lint, text in texts.items() if EXCEPTIONS.search(text)}
    assert len(with_exceptions) >= 5
    with world.superuser() as connection:
        for lint, text in with_exceptions.items():
            [listed] = EXCEPTIONS.findall(text)
            strict = EXCEPTIONS.sub("<> ALL (ARRAY[]::text[])", text)
            names = re.findall(r"'([^']*)'", re.sub("--.*", "", listed))
            assert {name for name, _ in _rows(connection, strict)} == set(names), lint


@pytest.mark.parametrize(
    ("lint", "said", "statement"),
    [(lint, *breach) for lint in sorted(set(LINTS) & set(FIXTURES)) for breach in _breaches(lint)],
)
def test_a_lint_finds_what_breaks_its_rule(world: World, lint: str, said: str, statement: str) -> None:
    with world.superuser() as connection:
        with connection.transaction(force_rollback=True):
            connection.execute(statement.encode())
            found = _found(connection, lint)
            assert [line for line in found if line.startswith(said)], f"{said!r} is not in {found}"
        assert _found(connection, lint) == []
