"""One running identity provider for all tests of the demo."""

import threading
from collections.abc import Iterator

import httpx2
import pytest
from running_provider import SECRET, WEB_REDIRECT, Provider
from werkzeug.serving import make_server

from demo.provider import create_provider


@pytest.fixture(scope="session")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    folder = tmp_path_factory.mktemp("provider") / "keys"
    # The application has to know its own address, so the free port comes first.
    server = make_server("127.0.0.1", 0, lambda _environ, _start: [], threaded=True)
    base_url = f"http://127.0.0.1:{server.port}"
    server.app = create_provider(base_url, folder, (WEB_REDIRECT,), SECRET)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with httpx2.Client(trust_env=False) as http:
        yield Provider(base_url, folder, http)
    server.shutdown()
    thread.join()
    server.server_close()
