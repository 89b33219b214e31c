"""What the benches share: a demo server of their own, one person's token, and load from wrk (Debian's package)."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2

PORT = 8470
# Enough connections that both workers get their share of them in every round.
SECONDS, CONNECTIONS = 6, 32
LINES = [f"- Fact {number}: prefers tables, short answers and times in CET." for number in range(1, 21)]
_NO_LIMIT = "10000000"


class Figures(NamedTuple):
    """What one round of load measured."""

    requests_per_second: float
    p50_ms: float
    p99_ms: float


class Demo(NamedTuple):
    """A running demo, with a block of 20 lines for the person whose token it is."""

    folder: Path
    environment: dict[str, str]
    address: str
    token: str


@contextmanager
def demo_server() -> Iterator[Demo]:
    """Run the demo on an empty folder until the end, its rate limits out of the way."""
    if shutil.which("wrk") is None:
        sys.exit("wrk is not installed: apt-get install wrk")
    with tempfile.TemporaryDirectory(prefix="keepline-bench-") as name:
        environment = {
            **os.environ,
            "KEEPLINE_DATA_DIR": name,
            "KEEPLINE_PORT": str(PORT),
            "KEEPLINE_DEMO": "1",
            "KEEPLINE_RATE_LIMIT_USER": _NO_LIMIT,
            "KEEPLINE_RATE_LIMIT_ORG": _NO_LIMIT,
        }
        with running([sys.executable, "-m", "commands.main", "run"], environment, f"{PORT}/readyz"):
            token = subprocess.run(
                [sys.executable, "-m", "commands.main", "token", "member"],
                env=environment, check=True, capture_output=True, text=True,
            ).stdout.strip()  # fmt: skip
            address, headers = f"http://127.0.0.1:{PORT}/v1", {"Authorization": f"Bearer {token}"}
            body = {"text": "\n".join(LINES)}
            httpx2.put(f"{address}/memory/block", json=body, headers=headers).raise_for_status()
            yield Demo(Path(name), environment, address, token)


@contextmanager
def running(command: list[str], environment: dict[str, str], ready: str) -> Iterator[None]:
    """Run a server until the end, from when it answers."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                if httpx2.get(f"http://127.0.0.1:{ready}").status_code == httpx2.codes.OK:
                    break
            except httpx2.HTTPError:
                pass
            time.sleep(0.1)
        else:
            sys.exit(f"{command} did not answer at {ready}")
        yield
    finally:
        process.terminate()
        process.wait(30)


def measure(address: str, *headers: str) -> Figures:
    """Put load on an address for six seconds."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", *(f"-H{h}" for h in headers), address]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in output:
        sys.exit(f"{address} answered with errors:\n{output}")
    rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
    return Figures(float(rate.group(1)) if rate else 0.0, _percentile(output, "50"), _percentile(output, "99"))


def _percentile(output: str, name: str) -> float:
    found = re.search(rf"^\s+{name}%\s+([\d.]+)(us|ms|s)\s*$", output, re.MULTILINE)
    if found is None:
        sys.exit(f"wrk printed no {name}% line:\n{output}")
    return float(found.group(1)) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[found.group(2)]
