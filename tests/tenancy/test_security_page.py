"""docs/security.md names, for each tenancy check, tests that are there."""

import re
from pathlib import Path

from tenancy.settings import PROJECT_FOLDER

PAGE = (PROJECT_FOLDER / "docs" / "security.md").read_text("utf-8")
REQUIRED = {*range(1, 41), 43, 44, *range(57, 70), 72, 73, *range(75, 80)}


def _tests_of(path: Path) -> set[str]:
    return set(re.findall(r"^def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE))


def test_every_check_is_listed_with_tests_that_exist() -> None:
    rows = {int(number): cells for number, cells in re.findall(r"^\| (\d+) \|(.*)\|$", PAGE, re.MULTILINE)}
    assert set(rows) == REQUIRED
    files = {path.name: _tests_of(path) for path in (PROJECT_FOLDER / "tests").rglob("test_*.py")}
    for number, cells in rows.items():
        named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", cells)
        assert named, number
        for file, test in named:
            assert test in files.get(file, set()), (number, file, test)


def test_every_other_test_that_the_page_names_exists_too() -> None:
    files = {path.name: _tests_of(path) for path in (PROJECT_FOLDER / "tests").rglob("test_*.py")}
    for file, test in re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE):
        assert test in files[file]
