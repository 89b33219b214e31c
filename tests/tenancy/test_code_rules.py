"""What the code does not do at all, because there is no safe way to do it here."""

import re

import pytest

from tenancy.settings import PROJECT_FOLDER
from tests.world import World

CODE = [
    path
    for folder in ("account", "admin", "commands", "demo", "memory", "tenancy", "web")
    for path in sorted((PROJECT_FOLDER / folder).rglob("*.py"))
] + [PROJECT_FOLDER / "app.py", PROJECT_FOLDER / "gunicorn.conf.py"]
SQL = sorted((PROJECT_FOLDER / "sql" / "functions").glob("*.sql"))


def _found(pattern: str, *allowed: str) -> list[str]:
    return [
        f"{path.relative_to(PROJECT_FOLDER)}: {match.group()}"
        for path in [*CODE, *SQL]
        if str(path.relative_to(PROJECT_FOLDER)) not in allowed
        for match in re.finditer(pattern, path.read_text("utf-8"), re.IGNORECASE)
    ]


def test_the_patterns_below_find_what_they_are_for() -> None:
    assert len(CODE) > 100
    assert _found(r"set_config\('keepline\.identity', \$1, true\)") == [
        "tenancy/binding.py: set_config('keepline.identity', $1, true)"
    ]


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        # An identity map of objects outlives an identity.
        (r"sqlalchemy\.orm|\bsessionmaker\b|scoped_session", ()),
        # Identity is bound in one place, for the transaction alone.
        # (The start check leaves a setting of its own and sees whether a pooler hands it to another connection.)
        (r"set_config\([^)]*keepline", ("tenancy/binding.py", "tenancy/login_faults.py")),
        (r"\bSET\s+(SESSION\s+|LOCAL\s+)?(keepline|app)\.", ()),
        (r"set_config\([^)]*false\)", ("tenancy/migrate.py", "tenancy/login_faults.py")),
        # A statement that is prepared by name can be run under somebody else's identity.
        (r"prepare_threshold\s*=\s*(?!None)", ()),
        # Nothing is told by a channel whose payload everybody hears, and no estimate reaches anybody.
        (r"\bpg_notify\b|\bNOTIFY\b", ()),
        (r"\breltuples\b|\bEXPLAIN\b", ()),
        # flask-login's own cookies, which outlive a session that the server ended.
        (r"login_user\(|remember=|REMEMBER_COOKIE", ("app.py",)),  # which gives it a name that nobody can send
        # Bodies are read by shapes; nothing is unpickled or evaluated.
        (r"\bpickle\b|\beval\(|\bexec\(", ()),
    ],
)
def test_it_is_nowhere_in_the_code(pattern: str, allowed: tuple[str, ...]) -> None:
    assert _found(pattern, *allowed) == []


def test_ids_come_from_no_sequence_that_counts_for_everybody(world: World) -> None:
    assert world.rows("SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = 'app'::regnamespace") == []
