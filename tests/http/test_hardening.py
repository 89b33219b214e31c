"""What no page, header or address of a request can bring about: scripts of others, other hosts, other cookies."""

import re
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from flask.testing import FlaskClient
from test_guards import routes_of
from test_reply_headers import assert_secured
from werkzeug.test import TestResponse, encode_multipart

from tenancy.settings import PROJECT_FOLDER
from tests.cast import Cast, csrf_token_of
from tests.world import WEB_PORT, World

PAGE, BLOCK = "/settings/memory", "/v1/memory/block"
EVIL = "evil.example"
INLINE = re.compile(
    r"""\sstyle\s*= | \son[a-z]+\s*= | <style | javascript: | data:text | srcdoc
    | <script(?![^>]*\ssrc=)[^>]*> | <base\b | http-equiv | \|\s*safe\b | autoescape\s+false""",
    re.IGNORECASE | re.VERBOSE,
)
# What would run or load text as code, or write it as markup past the browser's own escaping.
DANGEROUS_SCRIPT = re.compile(
    r"\beval\s*\(|new\s+Function\b|document\.write|insertAdjacentHTML|\b(?:inner|outer)HTML\s*\+?=|"
    r"set(?:Timeout|Interval)\s*\(\s*['\"`]|\.cssText|setAttribute\(\s*['\"](?:style|on)|postMessage|import\s*\(\s*[^'\"]"
)


def files(folder: str, ending: str) -> list[Path]:
    found = sorted((PROJECT_FOLDER / folder).rglob(f"*{ending}"))
    assert found
    return found


def test_nothing_in_a_page_is_inline() -> None:
    """The policy allows nothing inline, so that whatever is would not work; and no text is marked as safe."""
    assert INLINE.search("<p onclick = 'x'>")
    assert INLINE.search("<script>alert(1)</script>")
    assert not INLINE.search('<script type="module" src="/static/x.js"></script>')
    for file in files("templates", ".html"):
        found = INLINE.search(file.read_text("utf-8"))
        assert found is None, (file.name, found and found.group())


def test_no_script_makes_code_or_markup_of_text() -> None:
    assert DANGEROUS_SCRIPT.search("a.innerHTML = b")
    for file in files("static", ".js"):
        found = DANGEROUS_SCRIPT.search(file.read_text("utf-8"))
        assert found is None, (file.name, found and found.group())
    for file in files("static", ".svg"):
        assert not re.search(r"<script|\son[a-z]+=|href\s*=\s*[\"']?(?!#)", file.read_text("utf-8"), re.IGNORECASE)


def test_pages_as_served_hold_nothing_inline_and_load_from_here_alone(world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    for method, address, _ in routes_of(world.app):
        if method != "GET" or address.startswith("/static/"):
            continue
        for client in (browser, world.app.test_client()):
            reply = client.get(address)
            if reply.mimetype == "text/html":
                assert INLINE.search(reply.text) is None, address
                for loaded in re.findall(r"""<(?:script|link|img)[^>]+(?:src|href)="([^"]*)""", reply.text):
                    assert loaded.startswith("/static/"), (address, loaded)


def test_errors_redirects_and_odd_methods_are_secured(world: World, cast: Cast) -> None:
    browser, anonymous = cast.owner.browser(), world.app.test_client()
    cast.owner.assistant.write("text")
    validator = browser.get(BLOCK).headers["ETag"]
    replies = {
        "redirect": (anonymous.get(PAGE), 302),
        "not modified": (browser.get(BLOCK, headers={"If-None-Match": validator}), 304),
        "another method": (browser.open(PAGE, method="TRACE"), 405),
        "another method of a call": (browser.open(BLOCK, method="POST"), 405),
        "another method of a file": (browser.open("/static/keepline.css", method="POST"), 405),
        "a method of nobody's": (browser.open(PAGE, method="BREW"), 405),
        "too large": (browser.post(PAGE, data={"text": "x" * 2_000_000}), 413),
        "head": (browser.head(PAGE), 200),
        "options": (browser.options(PAGE), 200),
        "a form without its token": (browser.post(PAGE, data={}), 403),
        "a file that is not there": (browser.get("/static/none.js"), 404),
        "a folder": (browser.get("/static/"), 404),
        "a way out of the folder": (browser.get("/static/%2e%2e/app.py"), 404),
    }
    for what, (reply, status) in replies.items():
        assert reply.status_code == status, what
        assert_secured(reply)
        assert reply.headers["Cache-Control"] == "private, no-store", what
        assert "Access-Control-Allow-Origin" not in reply.headers
        assert "Server" not in reply.headers
        if status == 405:
            assert reply.headers["Allow"], what
            assert b"TRACE" not in reply.get_data(), what
    assert not replies["head"][0].get_data()


def test_a_missing_file_s_page_is_kept_by_no_cache_because_it_names_who_is_signed_in(cast: Cast) -> None:
    browser = cast.owner.browser()
    token = csrf_token_of(browser.get(PAGE).text)
    missing = browser.get("/static/none.css")
    assert missing.status_code == 404
    assert token in missing.text
    assert missing.headers["Cache-Control"] == "private, no-store"


def test_replies_that_differ_by_header_say_so(cast: Cast) -> None:
    prompt = cast.owner.assistant.get("/v1/prompt")
    again = cast.owner.assistant.get("/v1/prompt", headers={"If-None-Match": prompt.headers["ETag"]})
    assert again.status_code == 304
    assert [reply.headers["Vary"] for reply in (prompt, again)] == ["Accept", "Accept"]
    with cast.owner.browser().get("/static/keepline.css") as file:
        assert "Vary" not in file.headers


def set_cookies(reply: TestResponse) -> list[tuple[str, set[str]]]:
    """Name and attributes of every cookie that a reply sets or removes."""
    found = []
    for header in reply.headers.getlist("Set-Cookie"):
        pair, *attributes = [part.strip() for part in header.split(";")]
        found.append((pair.partition("=")[0], {attribute.lower() for attribute in attributes}))
    return found


def test_on_tls_every_cookie_is_the_host_s_own_and_out_of_reach_for_scripts(world: World, cast: Cast) -> None:
    """Set or removed, by whatever route."""
    with world.another_app(KEEPLINE_PUBLIC_URL="https://memory.example.com") as app:
        secret = cast.owner.browser().get_cookie(f"keepline_{WEB_PORT}", domain="127.0.0.1")
        assert secret is not None
        seen: dict[str, set[str]] = {}

        def browser() -> FlaskClient:
            client = app.test_client()
            client.set_cookie("__Host-keepline", secret.value, domain="127.0.0.1", secure=True)
            return client

        def open_safely(method: str, path: str, **options: object) -> TestResponse:
            reply = browser().open(path, method=method, base_url="https://memory.example.com", **options)
            for name, attributes in set_cookies(reply):
                assert {"secure", "httponly", "path=/", "samesite=lax"} <= attributes, (path, name)
                assert not any(attribute.startswith("domain") for attribute in attributes)
                seen.setdefault(name, set()).add(path)
            assert reply.headers["Strict-Transport-Security"] == "max-age=31536000"
            return reply

        for method, address, _ in routes_of(app):
            if not address.startswith("/static/"):
                open_safely(method, address, data={"theme": "dark"} if method == "POST" else None)
        open_safely("GET", "/login/start?org=acme")
        client = app.test_client()
        client.set_cookie("__Host-keepline", secret.value, domain="memory.example.com", secure=True)
        page = client.get(PAGE, base_url="https://memory.example.com")
        signed_out = client.post(
            "/logout", data={"csrf_token": csrf_token_of(page.text)}, base_url="https://memory.example.com"
        )
        assert signed_out.status_code == 303
        for name, attributes in set_cookies(signed_out):
            assert {"secure", "httponly", "path=/", "samesite=lax"} <= attributes, name
            seen.setdefault(name, set()).add("/logout")
    assert {"__Host-keepline", "__Host-keepline_sign_in"} <= set(seen)
    assert all(name.startswith("__Host-") for name in seen if name.removeprefix("__Host-") != "keepline_theme")


@pytest.mark.parametrize(
    "given",
    [f"//{EVIL}", f"/\\{EVIL}", f"https://{EVIL}/", "/a\r\nSet-Cookie: x=y", "/a%0d%0aSet-Cookie:%20x=y", "/é\u2028",
     "a" * 5_000],
)  # fmt: skip
def test_no_parameter_writes_a_header_or_leads_elsewhere(given: str, world: World, cast: Cast) -> None:
    browser = cast.owner.browser()
    token = csrf_token_of(browser.get(PAGE).text)
    replies = [
        world.app.test_client().get("/login/start", query_string={"org": "acme", "next": given}),
        world.app.test_client().get("/login/start", query_string={"org": given, "next": "/"}),
        world.app.test_client().get("/login", query_string={"org": given, "next": given}),
        world.app.test_client().get(PAGE, query_string={"x": given}),
        browser.post("/theme", data={"theme": "dark", "next": given, "csrf_token": token}),
        browser.get(PAGE, headers={"Referer": f"https://{EVIL}/", "X-Original-URL": "/", "X-Rewrite-URL": "/"}),
    ]
    for reply in replies:
        assert reply.status_code < 500
        assert not any(name == "x" for name, _ in set_cookies(reply))
        location = reply.headers.get("Location", "/")
        assert urlsplit(location).hostname in (None, "127.0.0.1")
        assert "\\" not in location
        assert not location.startswith("//")


HOSTS = [EVIL, f"{EVIL}:443", f"127.0.0.1@{EVIL}", "[::1", "a b", "", "x" * 300, f"{EVIL}/path", "127.0.0.1:99999", "é"]


@pytest.mark.parametrize("proxies", ["0", "1"])
@pytest.mark.parametrize("host", HOSTS)
def test_links_and_cookies_follow_the_public_address_whatever_host_is_asked_for(
    host: str, proxies: str, world: World, cast: Cast
) -> None:
    headers = {
        "Host": host, "X-Forwarded-Host": host, "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/odd",
        "X-Forwarded-Port": "1", "Forwarded": f"host={host}",
    }  # fmt: skip
    headers = {name: value.encode().decode("latin-1") for name, value in headers.items()}
    public = world.settings.public_url
    with world.another_app(KEEPLINE_TRUSTED_PROXIES=proxies) as app:
        bearer = {"Authorization": f"Bearer {cast.owner.assistant.token}"}
        for path in ("/", "/login", "/login/start?org=acme", "/login/start?org=acme&moved=1", PAGE, "/nowhere", BLOCK):
            for extra in ({}, bearer):
                reply = app.test_client().get(path, headers={**headers, **extra})
                assert reply.status_code < 500, path
                assert EVIL not in reply.text, path
                assert EVIL not in str(reply.headers), path
                location = reply.headers.get("Location", "/")
                ours = location.startswith(("/", public)) and not location.startswith("//")
                assert ours or location.startswith(world.demo.provider_url), location
                if location.startswith(world.demo.provider_url):
                    assert "redirect_uri=http%3A%2F%2F127.0.0.1" in location
                for name, attributes in set_cookies(reply):
                    assert name.startswith(f"keepline_{WEB_PORT}")
                    assert not any(attribute.startswith("domain") for attribute in attributes)


PART = b'--odd\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n'


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (PART % (b"field", b"x") * 5_000 + b"--odd--", "multipart/form-data; boundary=odd"),
        (PART % (b"text", b"x" * 900_000) + b"--odd--", "multipart/form-data; boundary=odd"),
        (PART % (b"text", b"x" * 1_100_000) + b"--odd--", "multipart/form-data; boundary=odd"),
        (b"&".join(b"f%d=x" % number for number in range(90_000)), "application/x-www-form-urlencoded"),
        (b"--odd", "multipart/form-data; boundary=other"),
        (b"--odd\r\n" * 50_000, "multipart/form-data; boundary=odd"),
        (b"x", "multipart/form-data"),
        (b"&" * 900_000, "application/x-www-form-urlencoded"),
        (b"%" * 900_000, "application/x-www-form-urlencoded"),
    ],
    ids=["many parts", "a long part", "too long", "many fields", "no part", "broken parts", "no boundary", "no fields",
         "broken escapes"],
)  # fmt: skip
def test_a_form_of_odd_size_or_shape_is_refused_and_does_nothing(
    data: bytes, content_type: str, world: World, cast: Cast
) -> None:
    cast.owner.assistant.write("stays")
    if isinstance(data, dict) and content_type == "multipart/form-data":
        boundary, data = encode_multipart(data)
        content_type = f"{content_type}; boundary={boundary}"
    elif isinstance(data, dict):
        data = urlencode(data).encode()
    reply = cast.owner.browser().post(PAGE, data=data, content_type=content_type)
    assert (reply.status_code, reply.mimetype) in ((400, "text/html"), (403, "text/html"), (413, "text/html"))
    assert "</html>" in reply.text
    assert world.rows("SELECT text FROM app.blocks") == [("stays",)]


def test_every_error_page_is_whole_and_escapes_what_it_shows(world: World, cast: Cast) -> None:
    """Whoever is asked, and whatever stands in the address or in the form."""
    mark = "<i>\"'&odd"
    browser, anonymous = cast.owner.browser(), world.app.test_client()
    pages = [
        browser.get("/nowhere", query_string={"x": mark}),
        anonymous.get(f"/nowhere/{mark}"),
        browser.post(PAGE, data={"text": mark}),
        anonymous.post(PAGE, data={"text": mark}),
        browser.open(PAGE, method="DELETE", query_string={"x": mark}),
        browser.post("/theme", data={"theme": mark, "next": mark}),
        anonymous.get("/login/callback", query_string={"state": mark, "error": mark, "error_description": mark}),
        anonymous.get("/login/start", query_string={"org": mark, "next": mark}),
        browser.get(PAGE, query_string={"changes": mark}),
        browser.post(PAGE, data={"text": "x" * 2_000_000, "csrf_token": mark}),
    ]
    for reply in pages:
        assert 400 <= reply.status_code < 500
        assert reply.mimetype == "text/html"
        assert reply.text.startswith("<!doctype html>")
        assert reply.text.rstrip().endswith("</html>")
        assert "<i>" not in reply.text
        assert "Traceback" not in reply.text
