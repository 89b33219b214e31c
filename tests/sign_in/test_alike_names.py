"""Names that look like a prefix of, a pattern for, or the same as another's stay apart: orgs, people and teams."""

from collections.abc import Iterator

import pytest
from bendable_provider import ASSISTANT, AUDIENCE, WEB_CLIENT, BendableProvider

from tenancy.clients import ASSISTANT_SCOPES, Kind
from tenancy.database import operator_login
from tenancy.guards import GuardedFlask
from tenancy.migrate import as_maintainer
from tenancy.registration import Connection, ProviderSettings, add_org, connect_provider, register_client
from tests.world import World

BLOCK = "/v1/memory/block"
PEOPLE = [("nord", "mara"), ("nord-lab", "mara"), ("n_rd", "mara"), ("nord", "li_po"), ("nord", "lixpo")]
SLUGS = sorted({slug for slug, _ in PEOPLE})


@pytest.fixture
def orgs(world: World, provider: BendableProvider) -> Iterator[None]:
    def connect(connection: Connection) -> None:
        now = world.clock.now()
        for slug in SLUGS:
            org_id = add_org(connection, slug, slug, now)
            settings = ProviderSettings(provider.issuer, AUDIENCE, WEB_CLIENT, None, "tenant", slug)
            connect_provider(connection, org_id, settings, now)
            register_client(connection, org_id, ASSISTANT, "Assistant", Kind.ASSISTANT, ASSISTANT_SCOPES, now)

    as_maintainer(operator_login(world.settings), connect)
    yield
    with world.superuser() as connection:
        connection.execute(
            "DELETE FROM app.users USING app.orgs o WHERE users.org_id = o.org_id AND slug = ANY (%s)", (SLUGS,)
        )
        connection.execute("DELETE FROM app.orgs WHERE slug = ANY (%s)", (SLUGS,))


@pytest.mark.usefixtures("orgs")
def test_each_of_five_people_with_alike_names_finds_the_own_line_alone(
    app: GuardedFlask, provider: BendableProvider, world: World
) -> None:
    headers = {
        (slug, handle): {"Authorization": f"Bearer {provider.access_token(tenant=slug, sub=handle)}"}
        for slug, handle in PEOPLE
    }
    for (slug, handle), header in headers.items():
        body = {"text": f"marker {handle} of {slug}"}
        assert app.test_client().put(BLOCK, json=body, headers=header).status_code == 200
    for (slug, handle), header in headers.items():
        reply = app.test_client().get(BLOCK, headers=header).get_json()
        assert reply["text"] == f"marker {handle} of {slug}"
        assert len(reply["lines"]) == 1
    assert world.rows("SELECT count(*) FROM app.blocks") == [(len(PEOPLE),)]


@pytest.mark.usefixtures("orgs")
@pytest.mark.parametrize("slug", ["nor", "nord%", "n%rd", "%", "_", "nord_lab", "NORD", " nord "])
def test_an_org_is_found_by_its_whole_short_name(app: GuardedFlask, provider: BendableProvider, slug: str) -> None:
    """In capitals or with spaces around it is how people type it; anything else is another org."""
    begun = app.test_client().get("/login/start", query_string={"org": slug})
    if slug.strip().lower() == "nord":
        assert begun.headers["Location"].startswith(provider.issuer)
    else:
        assert begun.status_code == 422


@pytest.mark.usefixtures("orgs")
def test_the_same_name_address_team_and_subject_in_two_orgs_are_two(
    app: GuardedFlask, provider: BendableProvider, world: World
) -> None:
    claims = {"sub": "pat", "name": "Pat", "email": "pat@example.test", "teams": ["Support"]}
    headers = [{"Authorization": f"Bearer {provider.access_token(tenant=slug, **claims)}"} for slug in ("nord", "n_rd")]
    client = app.test_client()
    assert client.put(BLOCK, json={"text": "Nord's Pat."}, headers=headers[0]).status_code == 200
    assert client.get(BLOCK, headers=headers[1]).get_json()["exists"] is False
    assert client.put(BLOCK, json={"text": "The other Pat."}, headers=headers[1]).status_code == 200
    assert client.get(BLOCK, headers=headers[0]).get_json()["text"] == "Nord's Pat."
    assert client.get(BLOCK, headers=headers[1]).get_json()["text"] == "The other Pat."
    people = world.rows("SELECT DISTINCT org_id, id FROM app.users WHERE email = 'pat@example.test'")
    assert len(people) == len({org for org, _ in people}) == 2
    teams = []
    for header in headers:
        with app.app_context():
            token = header["Authorization"].removeprefix("Bearer ")
            teams.append(app.extensions["keepline"].bearer_tokens.authenticate(token, "test").identity.team_ids)
    assert teams[0] != teams[1]
