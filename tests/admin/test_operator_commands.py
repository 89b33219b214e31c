"""The operator's commands for orgs, providers and clients, on the running database."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commands.main import main
from tests.world import World

NORTHWIND = (
    "org", "add", "northwind", "--name", "Northwind", "--audience", "northwind", "--client-id", "keepline-web",
)  # fmt: skip


@dataclass
class Outcome:
    code: int
    out: str
    err: str


Keepline = Callable[..., Outcome]


@pytest.fixture
def keepline(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Keepline]:
    """Run one command as a shell would, with the environment of the running parts."""
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> Outcome:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        captured = capsys.readouterr()
        code = ended.value.code
        return Outcome(code if isinstance(code, int) else 1 if code else 0, captured.out, captured.err)

    yield run
    with world.superuser() as connection:
        connection.execute("DELETE FROM app.orgs WHERE slug = 'northwind'")
        connection.execute(
            "DELETE FROM app.token_audiences t WHERE NOT EXISTS "
            "(SELECT FROM app.providers p WHERE (p.issuer, p.audience) = (t.issuer, t.audience))"
        )


@pytest.fixture
def issuer(world: World) -> str:
    """An issuer that answers as it should, for an audience that nobody has yet."""
    return f"{world.demo.provider_url}/acme"


@pytest.fixture
def northwind(keepline: Keepline, issuer: str) -> str:
    """An org without clients."""
    made = keepline(*NORTHWIND, "--issuer", issuer)
    assert made.code == 0, made.err
    return "northwind"


def provider_of(world: World) -> tuple[Any, ...]:
    [row] = world.rows(
        "SELECT claim_rules, secret_name, client_secret IS NULL, for_sign_in FROM app.providers "
        "JOIN app.orgs USING (org_id) WHERE slug = 'northwind'"
    )
    return row


def test_an_org_is_made_with_its_claim_rules_and_the_name_of_its_secret(
    keepline: Keepline, world: World, issuer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPLINE_CLIENT_SECRET_NORTHWIND", "hush")
    made = keepline(
        *NORTHWIND, "--issuer", issuer, "--client-secret-name", "NORTHWIND",
        "--claim-rule", "groups=admins:admin", "--claim-rule", "groups=ops:team:Operations",
    )  # fmt: skip
    assert (made.code, "warning" in made.err) == (0, False)
    assert f"{world.settings.public_url}/login/callback" in made.out
    assert provider_of(world) == (
        [
            {"claim": "groups", "value": "admins", "grants": "admin", "team": ""},
            {"claim": "groups", "value": "ops", "grants": "team", "team": "Operations"},
        ],
        "NORTHWIND", True, True,
    )  # fmt: skip


def test_a_secret_that_is_not_set_and_a_provider_that_does_not_answer_are_warned_of(
    keepline: Keepline, world: World
) -> None:
    made = keepline(*NORTHWIND, "--issuer", f"{world.demo.provider_url}/nobody", "--client-secret-name", "NORTHWIND")
    assert made.code == 0
    assert "KEEPLINE_CLIENT_SECRET_NORTHWIND is not set here" in made.err
    assert "warning: Discovery document:" in made.err
    assert provider_of(world)[1] == "NORTHWIND"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--claim-rule", "groups"), "is not a claim rule"),
        (("--claim-rule", "groups=x:team"), "Name the team"),
        (("--client-secret-name", "small"), "capital letters"),
        (("--client-secret-name", "X_FILE"), "_FILE"),
        (("--client-secret-name", "X", "--client-secret-file", __file__), "not both"),
        (("--claim", "tid"), "needs both a name and a value"),
        (("--name", "a\nb"), "name: Holds a control character"),
        (("--client-id", "a\nb"), "client_id: Holds a control character"),
        (("--audience", "x" * 501), "audience: Has 501 characters"),
        (("--scopes", "profile"), "scopes: Must hold openid"),
    ],
)
def test_what_does_not_fit_makes_nothing(
    keepline: Keepline, world: World, issuer: str, options: tuple[str, ...], sentence: str
) -> None:
    refused = keepline(*NORTHWIND, "--issuer", issuer, *options)
    assert refused.code == 1
    assert sentence in refused.err
    assert "The request does not fit" not in refused.err
    assert world.rows("SELECT count(*) FROM app.orgs WHERE slug = 'northwind'") == [(0,)]


def test_a_secret_from_a_file_is_sealed(keepline: Keepline, world: World, issuer: str, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("hush\n", "utf-8")
    made = keepline(*NORTHWIND, "--issuer", issuer, "--client-secret-file", str(file))
    assert (made.code, "hush" in made.out + made.err) == (0, False)
    assert provider_of(world)[1:] == (None, False, True)
    [(sealed,)] = world.rows(
        "SELECT client_secret FROM app.providers JOIN app.orgs USING (org_id) WHERE slug = 'northwind'"
    )
    assert world.services.sessions.box.open(sealed) == b"hush"


def test_testing_a_provider_prints_every_point(keepline: Keepline, world: World, issuer: str) -> None:
    good = keepline("org", "test-provider", issuer)
    assert good.code == 0
    assert any(line.startswith("ok      Keys: ") for line in good.out.splitlines())
    bad = keepline("org", "test-provider", f"{world.demo.provider_url}/nobody")
    assert bad.code == 1
    assert any(line.startswith("not ok  Discovery document: ") for line in bad.out.splitlines())


def test_a_client_is_added_listed_replaced_and_revoked(keepline: Keepline, northwind: str) -> None:
    assert "No client is registered" in keepline("client", "list", northwind).err
    added = keepline("client", "add", northwind, "helper", "--name", "Helper", "--scope", "memory:read")
    assert added.code == 0, added.err
    assert keepline("client", "list", northwind).out == "helper\tassistant\tin force\tnever used\tHelper\tmemory:read\n"
    assert keepline("client", "add", northwind, "helper", "--name", "H", "--kind", "user").code == 1
    replaced = keepline("client", "replace", northwind, "helper", "helper-2", "--overlap-hours", "3")
    assert "helper goes on until" in replaced.out
    first, second = keepline("client", "list", northwind).out.splitlines()
    assert "\tuntil " in first
    assert "replaced by helper-2" in first
    assert second == "helper-2\tassistant\tin force\tnever used\tHelper\tmemory:read"
    assert "being replaced already" in keepline("client", "replace", northwind, "helper", "helper-3").err
    assert "registered already" in keepline("client", "replace", northwind, "helper-2", "helper").err
    assert keepline("client", "revoke", northwind, "helper-2").code == 0
    assert "\trevoked " in keepline("client", "list", northwind).out.splitlines()[1]
    assert keepline("client", "revoke", northwind, "helper-2").code == 0
    assert keepline("client", "add", northwind, "helper-2", "--name", "Helper").code == 0
    assert "in force" in keepline("client", "list", northwind).out.splitlines()[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("revoke", "northwind", "nobody"), "nobody is not registered in this org. Nothing was changed."),
        (("replace", "northwind", "nobody", "n"), "nobody is not registered in this org. Nothing was changed."),
        (("revoke", "southwind", "helper"), "There is no org with the short name southwind"),
        (("list", "southwind"), "There is no org with the short name southwind"),
        (("add", "northwind", "web", "--name", "Web"), "settings page"),
        (("add", "northwind", "a\nb", "--name", "Web"), "control character"),
        (("add", "northwind", "helper", "--name", ""), "Can't be empty"),
        (("replace", "northwind", "helper", "web"), "settings page"),
    ],
)
def test_what_is_not_there_or_does_not_fit_is_said(
    keepline: Keepline, northwind: str, arguments: tuple[str, ...], sentence: str
) -> None:
    assert northwind == "northwind"
    refused = keepline("client", *arguments)
    assert refused.code == 1
    assert sentence in refused.err


def test_revoking_is_of_one_org_alone(keepline: Keepline, northwind: str, world: World) -> None:
    assert keepline("client", "add", northwind, "demo-assistant", "--name", "Same id").code == 0
    assert keepline("client", "revoke", northwind, "demo-assistant").code == 0
    assert world.rows(
        "SELECT slug, revoked_at IS NOT NULL FROM app.clients JOIN app.orgs USING (org_id) "
        "WHERE client_id = 'demo-assistant' AND slug IN ('acme', 'northwind') ORDER BY slug"
    ) == [("acme", False), ("northwind", True)]
