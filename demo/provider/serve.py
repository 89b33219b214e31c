"""Running the provider as a process of its own."""

import signal
import threading
from pathlib import Path
from types import FrameType

from werkzeug.serving import WSGIRequestHandler, make_server

from demo.provider.app import create_provider

# Whoever signs people in without a password listens to this machine alone.
_HOST = "127.0.0.1"
WEB_CALLBACK_PATH = "/login/callback"


class _QuietHandler(WSGIRequestHandler):
    """Writes no access log: its lines would hold states and nonces."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


def serve_provider(port: int, folder: Path, public_url: str, web_client_secret: str) -> None:
    """Serve the provider on loopback until SIGTERM or SIGINT, then return.

    `public_url` is where people open Keepline; the web application may be sent back to its
    `WEB_CALLBACK_PATH` and nowhere else. Answers requests on several threads. Has to be called on the main
    thread, because signals arrive there. Ends the process with a sentence when the port is taken; raises
    OSError when `folder` cannot be used and ValueError when the secret is empty.
    """
    callback = f"{public_url.rstrip('/')}{WEB_CALLBACK_PATH}"
    app = create_provider(f"http://{_HOST}:{port}", folder, (callback,), web_client_secret)
    stop = threading.Event()

    def ask_to_stop(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    with make_server(_HOST, port, app, threaded=True, request_handler=_QuietHandler) as server:
        earlier = {number: signal.signal(number, ask_to_stop) for number in (signal.SIGTERM, signal.SIGINT)}
        serving = threading.Thread(target=server.serve_forever, name="identity-provider")
        serving.start()
        try:
            stop.wait()
        finally:
            server.shutdown()
            serving.join()
            for number, handler in earlier.items():
                signal.signal(number, handler)
