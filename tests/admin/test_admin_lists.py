"""Lists and counts of admins hold however much was connected and registered."""

import re
from typing import Any

from flask.testing import FlaskClient

from tests.world import World

ROWS = re.compile(r'href="/admin/identity/([0-9a-f-]{36})"')


def connect_many(world: World, count: int) -> None:
    """Connect that many providers to acme, of which the last one is used for signing in."""
    with world.superuser() as connection:
        connection.execute(
            "INSERT INTO app.token_audiences (issuer, audience, claim_name) "
            "SELECT 'https://many.example', n::text, '' FROM generate_series(1, %s) n",
            (count,),
        )
        connection.execute(
            "UPDATE app.providers SET for_sign_in = false WHERE org_id = (SELECT org_id FROM app.orgs WHERE slug = %s)",
            ("acme",),
        )
        connection.execute(
            "INSERT INTO app.providers (org_id, issuer, audience, claim_name, claim_value, client_id, scopes, "
            "claim_rules, for_sign_in, created_at) SELECT org_id, 'https://many.example', n::text, '', '', 'x', "
            "'openid', '[]', n = %s, now() FROM app.orgs, generate_series(1, %s) n WHERE slug = 'acme' ORDER BY n",
            (count, count),
        )


def test_providers_are_listed_page_by_page_and_the_one_for_signing_in_is_named(
    admin_browser: FlaskClient, world: World
) -> None:
    connect_many(world, 105)
    assert "People sign in through https://many.example" in admin_browser.get("/admin").text
    found: list[str] = []
    address: str | None = "/admin/identity"
    sizes = []
    while address:
        page = admin_browser.get(address).text
        shown = ROWS.findall(page)
        sizes.append(len(shown))
        found += shown
        more = re.search(r'href="([^"]+)" id="more-providers"', page)
        address = more[1] if more else None
    assert sizes == [50, 50, 6]
    assert len(set(found)) == 106
    assert admin_browser.get("/admin/identity?after=x").status_code == 422
    question = admin_browser.get(f"/admin/identity/{found[0]}/sign-in").text
    assert "no longer to <bdi>https://many.example</bdi>" in question


def test_clients_that_are_registered_are_counted_and_revoked_ones_are_not(
    admin_browser: FlaskClient, world: World
) -> None:
    def add(prefix: str, count: int, revoked: Any) -> None:
        with world.superuser() as connection:
            connection.execute(
                "INSERT INTO app.clients (org_id, client_id, name, kind, scopes, created_at, revoked_at) "
                "SELECT org_id, %s || n, 'x', 'user', '{memory:read}', now(), %s::timestamptz "
                "FROM app.orgs, generate_series(1, %s) n WHERE slug = 'acme'",
                (prefix, revoked, count),
            )

    [(before,)] = world.rows("SELECT count(*) FROM app.clients JOIN app.orgs USING (org_id) WHERE slug = 'acme'")
    add("revoked-", 101, "2026-01-01")
    assert f"{before} registered" in admin_browser.get("/admin").text
    add("ending-", 102, "2999-01-01")
    assert f"{before + 102} registered" in admin_browser.get("/admin").text
