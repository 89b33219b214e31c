"""A person's first requests at once make one user and one entry in the trail."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from demo.seed import ASSISTANT_CLIENT, USER_CLIENT
from tests.cast import Calls, Person
from tests.tenancy.app_role import app_connection, signer_of
from tests.world import World

AT_ONCE = 10


def _together(act: Callable[[int], Any]) -> list[Any]:
    """Run ten acts, released together, and return what they returned; an exception is returned too."""
    start = threading.Barrier(AT_ONCE)
    results: list[Any] = [None] * AT_ONCE

    def work(number: int) -> None:
        start.wait()
        try:
            results[number] = act(number)
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def _created(world: World, user_id: UUID) -> list[tuple[Any, ...]]:
    return world.rows(
        "SELECT org_id, user_id, actor_id, writer, client, outcome FROM app.audit_events "
        "WHERE action = 'user.create' AND target_id = %s",
        str(user_id),
    )


def test_ten_calls_of_the_function_make_one_user(world: World) -> None:
    [(org_id, provider_id, issuer)] = world.rows(
        "SELECT p.org_id, p.id, p.issuer FROM app.providers p JOIN app.orgs o USING (org_id) WHERE o.slug = 'acme'"
    )
    ticket = signer_of(world).ticket(
        "resolve_user",
        {
            "org_id": str(org_id), "provider_id": str(provider_id), "issuer": issuer, "subject": "never seen",
            "name": "New", "email": None, "client": "demo-console", "request_id": "r",
        },
    )  # fmt: skip

    def resolve(_: int) -> UUID:
        with app_connection(world) as connection:
            row = connection.execute("SELECT tenancy.resolve_user(%s)", (ticket,)).fetchone()
            assert row is not None
            return UUID(str(row[0]))

    resolved = set(_together(resolve))
    try:
        [(user_id,)] = world.rows("SELECT id FROM app.users WHERE subject = 'never seen'")
        assert resolved == {user_id}
        assert _created(world, user_id) == [(org_id, user_id, user_id, "system", "demo-console", "done")]
    finally:
        with world.superuser() as connection:
            connection.execute("DELETE FROM app.users WHERE subject = 'never seen'")


@pytest.mark.parametrize("client_id", [ASSISTANT_CLIENT, USER_CLIENT])
def test_ten_requests_with_one_token_make_one_user(world: World, client_id: str) -> None:
    """Case B11: the block, the prompt and the list of changes, by the assistant and by a program."""
    newcomer = Person(world, "stranger-admin")
    token = newcomer.token(client_id)
    _forget(world, newcomer)
    with world.another_app(KEEPLINE_WEB_THREADS="8") as fresh:
        paths = ["/v1/memory/block", "/v1/prompt", "/v1/memory/changes"]

        def call(number: int) -> int:
            return Calls(fresh.test_client(), token).get(paths[number % 3]).status_code

        assert _together(call) == [200] * AT_ONCE
    users = world.rows("SELECT id FROM app.users WHERE name = 'Viktor Horvat'")
    assert len(users) == 1
    assert len(_created(world, users[0][0])) == 1
    assert world.rows("SELECT count(*) FROM app.blocks WHERE user_id = %s", users[0][0]) == [(0,)]


def _forget(world: World, person: Person) -> None:
    """Make the person one whom the database has never seen."""
    with world.superuser() as connection:
        connection.execute("DELETE FROM app.users WHERE name = 'Viktor Horvat'")
        connection.execute("DELETE FROM app.audit_events WHERE action = 'user.create'")
    assert world.rows("SELECT 1 FROM app.users WHERE email = %s", f"{person.login_name}@birch.example") == []
