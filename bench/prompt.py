"""GET /v1/prompt against a bare Flask endpoint doing one primary-key SELECT: same server, same workers, one run.

    .venv/bin/python -m bench.prompt

Needs wrk (Debian's package). Rounds alternate, so that what else the machine does falls on both; the medians count.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2
import psycopg

from tenancy.embedded import locate

PORT, BARE_PORT = 8470, 8471
# Enough connections that both workers get their share of them in every round.
ROUNDS, SECONDS, CONNECTIONS = 5, 6, 32
LINES = [f"- Fact {number}: prefers tables, short answers and times in CET." for number in range(1, 21)]


class Figures(NamedTuple):
    """What one round of load measured."""

    requests_per_second: float
    p50_ms: float
    p99_ms: float


def main() -> None:
    """Start everything, run the rounds and print the table."""
    if shutil.which("wrk") is None:
        sys.exit("wrk is not installed: apt-get install wrk")
    with tempfile.TemporaryDirectory(prefix="keepline-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        environment = {
            **os.environ,
            "KEEPLINE_DATA_DIR": name,
            "KEEPLINE_PORT": str(PORT),
            "KEEPLINE_DEMO": "1",
        }
        stack.enter_context(_running([sys.executable, "-m", "commands.main", "run"], environment, f"{PORT}/readyz"))
        _prepare_baseline(folder)
        bare = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py", "--bind", f"127.0.0.1:{BARE_PORT}"]
        stack.enter_context(_running([*bare, "bench.bare_app:app"], environment, f"{BARE_PORT}/note"))
        token = subprocess.run(
            [sys.executable, "-m", "commands.main", "token", "member"],
            env=environment, check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
        authorization = {"Authorization": f"Bearer {token}"}
        address = f"http://127.0.0.1:{PORT}/v1"
        httpx2.put(f"{address}/memory/block", json={"text": "\n".join(LINES)}, headers=authorization).raise_for_status()
        prompt, baseline = [], []
        for _ in range(ROUNDS):
            baseline.append(_load(f"http://127.0.0.1:{BARE_PORT}/note"))
            prompt.append(_load(f"{address}/prompt", f"Authorization: Bearer {token}"))
        _report(baseline, prompt)


def _prepare_baseline(folder: Path) -> None:
    with psycopg.connect(locate(folder).conninfo("postgres"), autocommit=True) as connection:
        connection.execute("CREATE SCHEMA bench; GRANT USAGE ON SCHEMA bench TO keepline_app")
        connection.execute("CREATE TABLE bench.notes (id integer PRIMARY KEY, text text NOT NULL)")
        connection.execute("INSERT INTO bench.notes VALUES (1, %s)", ("\n".join(LINES),))
        connection.execute("GRANT SELECT ON bench.notes TO keepline_app")


@contextmanager
def _running(command: list[str], environment: dict[str, str], ready: str) -> Iterator[None]:
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


def _load(address: str, *headers: str) -> Figures:
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


def _report(baseline: list[Figures], prompt: list[Figures]) -> None:
    print("| endpoint | requests/s | p50 ms | p99 ms |\n|---|---|---|---|")
    for name, rounds in (("bare Flask, one SELECT", baseline), ("GET /v1/prompt", prompt)):
        rate, p50, p99 = (statistics.median(values) for values in zip(*rounds, strict=True))
        print(f"| {name} | {rate:,.0f} | {p50:.2f} | {p99:.2f} |")
    ratios = [
        ours.requests_per_second / theirs.requests_per_second for ours, theirs in zip(prompt, baseline, strict=True)
    ]
    print(f"\nthroughput ratio, median of {ROUNDS} rounds: {statistics.median(ratios):.2f}")
    print(f"rounds: {', '.join(f'{ratio:.2f}' for ratio in ratios)}")


if __name__ == "__main__":
    main()
