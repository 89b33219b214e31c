"""What tests of the block look at again and again."""

from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.cast import Calls, Person, csrf_token_of
from tests.world import World

MEMORY = "/settings/memory"


def block_of(person: Person) -> dict[str, Any]:
    reply = person.program.get("/v1/memory/block")
    assert reply.status_code == 200
    content: dict[str, Any] = reply.get_json()
    return content


def text_of(person: Person) -> str:
    return str(block_of(person)["text"])


def lines_of(person: Person) -> dict[str, dict[str, Any]]:
    """The lines by their text."""
    return {line["text"]: line for line in block_of(person)["lines"]}


def changes_of(calls: Calls) -> list[dict[str, Any]]:
    reply = calls.get("/v1/memory/changes?limit=100")
    assert reply.status_code == 200
    items: list[dict[str, Any]] = reply.get_json()["items"]
    return items


def entries(world: World, action: str = "block.rewrite") -> int:
    return int(world.rows("SELECT count(*) FROM app.audit_events WHERE action = %s", action)[0][0])


def places_of(world: World, word: str) -> list[str]:
    """The tables of the whole database in which a word stands, as text or as bytes, by name."""
    tables = world.rows(
        "SELECT format('%%I.%%I', schemaname, tablename) FROM pg_tables "
        "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    like = f"%{word}%", f"%{word.encode().hex()}%"
    return [
        name
        for (name,) in sorted(tables)
        if world.rows(f"SELECT 1 FROM {name} AS t WHERE t::text LIKE %s OR t::text LIKE %s LIMIT 1", *like)
    ]


def post(browser: FlaskClient, path: str, **fields: Any) -> TestResponse:
    """Send one of the page's forms as a browser does."""
    token = csrf_token_of(browser.get(MEMORY).text)
    return browser.post(path, data={"csrf_token": token, **fields})


def save_by_form(browser: FlaskClient, text: str) -> TestResponse:
    """Open the page and save another text."""
    page = browser.get(MEMORY).text
    seen = page.split('name="seen" value="', 1)[1].split('"', 1)[0]
    return browser.post(MEMORY, data={"csrf_token": csrf_token_of(page), "seen": seen, "text": text})


def problem_of(reply: TestResponse) -> tuple[int, str]:
    assert reply.mimetype == "application/problem+json"
    return reply.status_code, str(reply.get_json()["code"])
