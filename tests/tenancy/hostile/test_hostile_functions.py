"""Every function of schema tenancy, called with whatever its types allow: an answer about oneself, or a refusal."""

from typing import Any

import pytest

from tests.tenancy.app_role import signer_of
from tests.tenancy.hostile.attackers import LOGINS, OTHERS, SECRET, Scene
from tests.world import World

# Words in angle brackets stand for the owner's ids, and for a token and a ticket that the caller may have.
HOSTILE: dict[str, tuple[str, ...]] = {
    "text": (
        "''", "'x'", "'owner'", "''' OR true --'", "repeat('x', 100000)", "E'\\x01\\n'", "'null'", "NULL",
        """'{"purpose": "readiness"}'""", "'<identity>'", "'<ticket>'", "'<user>'",
    ),
    "jsonb": (
        "'{}'", "'[]'", "'null'", "'[null]'", "'[[]]'", "'[{}]'", "NULL", """'"x"'""",
        """'[{"text": {}, "digest": 7}]'""", """'[{"change": "added", "text": "x", "digest": "zz"}]'""",
        """'[{"org_id": "<user>", "user_id": "<user>"}]'""",
    ),
    "uuid": ("'<user>'", "'<org>'", "NULL", "uuidv7()"),
    "uuid[]": ("'{<user>}'", "'{}'", "NULL"),
    "bytea": ("''", "'x'", "NULL", "decode(repeat('00', 100000), 'hex')"),
    "bytea[]": ("'{}'", "NULL", "ARRAY[''::bytea]", "(SELECT array_agg(digest) FROM app.audit_details)"),
    "integer": ("0", "-1", "2147483647", "NULL"),
    "bigint": ("0", "-1", "9223372036854775807", "NULL"),
    "boolean": ("true", "NULL"),
    "interval": ("'0'", "'-1000 years'", "NULL"),
    "timestamp with time zone": ("'infinity'", "'-infinity'", "now()", "NULL"),
    "text[]": ("'{}'", "ARRAY['x', NULL]", "NULL"),
}  # fmt: skip
# An internal error, a crash or running out of something is no refusal.
NO_REFUSAL = ("XX", "53", "57", "58", "54")
_FUNCTIONS = """SELECT p.proname, array_agg(format_type(t.type, NULL) ORDER BY t.place) FILTER (WHERE t.type IS NOT NULL)
    FROM pg_proc p LEFT JOIN unnest(p.proargtypes::oid[]) WITH ORDINALITY AS t (type, place) ON true
    WHERE p.pronamespace = 'tenancy'::regnamespace AND p.prorettype NOT IN ('event_trigger'::regtype, 'trigger'::regtype)
    GROUP BY p.oid ORDER BY 1"""  # noqa: E501 - SQL is read whole


def _functions(world: World) -> list[tuple[str, list[str]]]:
    return [(name, types or []) for name, types in world.rows(_FUNCTIONS)]


def _calls(scene: Scene, function: str, types: list[str]) -> list[str]:
    """Calls in which each argument in turn takes every hostile value, and the others their first one."""
    assert set(types) <= set(HOSTILE), f"{function} takes a type for which nothing hostile is known"
    first = [HOSTILE[kind][0] for kind in types]
    taken = [first]
    for place, kind in enumerate(types):
        taken += [[*first[:place], value, *first[place + 1 :]] for value in HOSTILE[kind][1:]]
    owner, signer = scene.cast.owner.identity, signer_of(scene.world)
    filled = {
        "<identity>": signer.identity_token(scene.cast.stranger.identity),
        "<ticket>": signer.ticket("another", {"org_id": str(owner.org_id), "user_id": str(owner.user_id)}),
        "<user>": str(owner.user_id),
        "<org>": str(owner.org_id),
    }
    calls = []
    for arguments in taken:
        written = ", ".join(f"{value}::{kind}" for value, kind in zip(arguments, types, strict=True))
        for name, value in filled.items():
            written = written.replace(name, value)
        calls.append(f"SELECT * FROM tenancy.{function}({written})")
    return calls


def test_no_function_answers_about_the_owner(scene: Scene) -> None:
    functions = _functions(scene.world)
    assert len(functions) >= 20
    before = scene.of_the_owner()
    for function, types in functions:
        for call in _calls(scene, function, types):
            for login in LOGINS:
                for name in ("stranger", "nobody"):
                    heard = scene.hear(login, name, call)
                    assert SECRET not in heard.said, call
                    assert str(scene.cast.owner.user_id) not in str(heard.rows), call
                    assert not (heard.refusal or "").startswith(NO_REFUSAL), (call, heard)
        assert scene.of_the_owner() == before, function


def test_a_forged_identity_stops_every_function_that_asks_who(scene: Scene) -> None:
    """Those that take a ticket do not ask, and refuse the ticket; the time is the same for everybody."""
    forged = str(scene.token("owner"))[:-1] + "0}"
    bound = f"SELECT set_config('keepline.identity', '{forged}', true)"
    for function, types in _functions(scene.world):
        call = _calls(scene, function, types)[0]
        for login in LOGINS:
            heard = scene.hear(login, "nobody", bound, call)
            if function != "stored_time":
                assert heard.refusal in ("28000", "42501"), (login, call, heard)


@pytest.mark.parametrize("name", OTHERS)
def test_the_accessors_answer_who_is_asking(scene: Scene, name: str) -> None:
    for login in LOGINS:
        rows: list[tuple[Any, ...]] = scene.hear(login, name, "SELECT tenancy.org_id(), tenancy.user_id()").rows[-1:]
        person = None if name == "nobody" else getattr(scene.cast, name).identity
        assert rows == [(person.org_id, person.user_id) if person else (None, None)]
