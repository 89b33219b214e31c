"""A person is (provider, issuer, subject): name and address are shown, never matched."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from bendable_provider import BendableProvider

from tenancy.guards import GuardedFlask
from tests.cast import Cast
from tests.world import World

BLOCK = "/v1/memory/block"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_changed_address_is_the_same_person_and_the_last_one_is_shown(
    world: World, app: GuardedFlask, provider: BendableProvider
) -> None:
    services = app.extensions["keepline"]
    [known] = [found for found in services.directory.find_token_providers(provider.issuer) if found.org_slug == "cedar"]

    def resolve(subject: str, **claims: str) -> object:
        return services.directory.resolve_user(known, subject, claims, client="web", request_id="r")

    addresses = ["Mara.Old@Example.test", "mara.old@example.test", "mara.new@example.test"]
    ids = {resolve("u-mara", name=f"Mara {number}", email=address) for number, address in enumerate(addresses)}
    assert len(ids) == 1
    assert world.rows("SELECT name, email FROM app.users WHERE subject = 'u-mara'") == [("Mara 2", addresses[-1])]
    assert resolve("u-other", email=addresses[-1]) not in ids


def test_the_page_shows_the_last_address_and_keeps_the_memory(app: GuardedFlask, provider: BendableProvider) -> None:
    token = provider.access_token(sub="u-lena")
    saved = app.test_client().put(BLOCK, json={"text": "Likes tables."}, headers=bearer(token))
    assert saved.status_code == 200
    for address in ("Lena.Old@Example.test", "lena.old@example.test", "lena.new@example.test"):
        provider.id_claims = {"sub": "u-lena", "email": address}
        browser, reply = provider.sign_in(app)
        assert reply.status_code == 302
        page = browser.get("/settings/memory").text
        assert address in page
        assert "Likes tables." in page


def test_one_address_at_two_providers_is_two_people(
    world: World, cast: Cast, app: GuardedFlask, provider: BendableProvider
) -> None:
    """Somebody who can set an address at another provider takes nothing over."""
    cast.owner.assistant.write("The owner's line.")
    [(address,)] = world.rows("SELECT email FROM app.users WHERE id = %s", cast.owner.user_id)
    provider.id_claims = {"sub": "impostor", "email": address, "email_verified": True, "preferred_username": "member"}
    browser, reply = provider.sign_in(app)
    assert reply.status_code == 302
    assert "Nothing is remembered" in browser.get("/settings/memory").text
    assert world.rows("SELECT count(DISTINCT org_id) FROM app.users WHERE email = %s", address) == [(2,)]


def test_ten_first_requests_at_once_make_one_user_and_one_entry(
    world: World, app: GuardedFlask, provider: BendableProvider
) -> None:
    tokens = [provider.access_token(sub="u-eleven", name=f"N{number}") for number in range(10)]
    paths = [BLOCK, "/v1/prompt", "/v1/memory/changes"]

    def first_request(number: int) -> int:
        return int(app.test_client().get(paths[number % 3], headers=bearer(tokens[number])).status_code)

    with ThreadPoolExecutor(10) as pool:
        statuses = list(pool.map(first_request, range(10)))
    assert statuses == [200] * 10
    [(user_id,)] = world.rows("SELECT id FROM app.users WHERE subject = 'u-eleven'")
    assert world.rows("SELECT action, writer FROM app.audit_events WHERE user_id = %s", user_id) == [
        ("user.create", "system")
    ]


def test_a_nul_or_a_long_name_is_shown_without_harm(app: GuardedFlask, provider: BendableProvider) -> None:
    for name in ("A\0B", "x" * 9_000, '"><script>alert(1)</script>'):
        provider.id_claims = {"sub": "u-named", "name": name}
        browser, reply = provider.sign_in(app)
        assert reply.status_code == 302
        page = browser.get("/settings/memory")
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "\0" not in page.text


def test_another_issuer_on_the_same_connection_hands_nobody_over(
    world: World, app: GuardedFlask, provider: BendableProvider
) -> None:
    """Who was known by the old issuer is not whoever has the same subject at the new one."""
    services = app.extensions["keepline"]
    [known] = [found for found in services.directory.find_token_providers(provider.issuer) if found.org_slug == "cedar"]
    before = services.directory.resolve_user(known, "u-moved", {}, client="web", request_id="r")
    moved = replace(known, issuer="https://new.example")
    after = services.directory.resolve_user(moved, "u-moved", {}, client="web", request_id="r")
    other_client = replace(known, client_id="another-client")
    assert after != before
    assert services.directory.resolve_user(other_client, "u-moved", {}, client="web", request_id="r") == before
    assert world.rows("SELECT count(*) FROM app.users WHERE subject = 'u-moved'") == [(2,)]
