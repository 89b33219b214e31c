"""A sign-in ends at the provider where it began, whichever one an admin chooses meanwhile."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from bendable_provider import BendableProvider

from tenancy.guards import GuardedFlask
from tests.world import World

PAGE = "/settings/memory"


@pytest.fixture
def other(world: World, provider: BendableProvider) -> Iterator[str]:
    """A second provider of cedar that nothing answers at, and which is not used for signing in yet."""
    issuer = "http://127.0.0.1:9/other"
    with world.superuser() as connection:
        connection.execute(
            "INSERT INTO app.token_audiences (issuer, audience, claim_name) VALUES (%s, 'a', '')", (issuer,)
        )
        connection.execute(
            "INSERT INTO app.providers (org_id, issuer, audience, client_id, for_sign_in, created_at) "
            "SELECT org_id, %s, 'a', 'web', false, now() FROM app.orgs WHERE slug = 'cedar'",
            (issuer,),
        )
        yield issuer
        connection.execute("DELETE FROM app.providers WHERE issuer = %s", (issuer,))
        connection.execute("DELETE FROM app.token_audiences WHERE issuer = %s", (issuer,))
        connection.execute("UPDATE app.providers SET for_sign_in = true WHERE issuer = %s", (provider.issuer,))


def test_its_code_goes_where_it_came_from(
    world: World, app: GuardedFlask, provider: BendableProvider, other: str
) -> None:
    browser = app.test_client()
    begun = browser.get("/login/start", query_string={"org": "cedar"})
    asked = {name: values[0] for name, values in parse_qs(urlsplit(begun.headers["Location"]).query).items()}
    provider.nonce = asked["nonce"]
    with world.superuser() as connection:
        connection.execute(
            "UPDATE app.providers p SET for_sign_in = false FROM app.orgs o "
            "WHERE o.org_id = p.org_id AND slug = 'cedar'"
        )
        connection.execute("UPDATE app.providers SET for_sign_in = true WHERE issuer = %s", (other,))
    answer = {"code": "the-code", "state": asked["state"], "iss": provider.issuer}
    assert browser.get("/login/callback", query_string=answer).status_code == 302
    assert [exchange["code"] for exchange in provider.exchanges] == ["the-code"]
    assert browser.get(PAGE).status_code == 200


def test_a_provider_that_was_disconnected_meanwhile_finishes_no_sign_in(
    world: World, app: GuardedFlask, provider: BendableProvider
) -> None:
    browser = app.test_client()
    begun = browser.get("/login/start", query_string={"org": "cedar"})
    asked = {name: values[0] for name, values in parse_qs(urlsplit(begun.headers["Location"]).query).items()}
    try:
        with world.superuser() as connection:
            connection.execute("UPDATE app.providers SET disconnected_at = now() WHERE issuer = %s", (provider.issuer,))
        answer = {"code": "the-code", "state": asked["state"], "iss": provider.issuer}
        assert browser.get("/login/callback", query_string=answer).status_code == 400
        assert provider.exchanges == []
    finally:
        with world.superuser() as connection:
            connection.execute("UPDATE app.providers SET disconnected_at = NULL WHERE issuer = %s", (provider.issuer,))
