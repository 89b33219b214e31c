"""GET /v1/prompt against a bare Flask endpoint doing one primary-key SELECT: same server, same workers, one run.

    .venv/bin/python -m bench.prompt

Needs wrk (Debian's package). Rounds alternate, so that what else the machine does falls on both; the medians count.
"""

import statistics
import sys
from contextlib import ExitStack
from pathlib import Path

import psycopg

from bench.load import LINES, Figures, demo_server, measure, running
from tenancy.embedded import locate

BARE_PORT = 8471
ROUNDS = 5


def main() -> None:
    """Start everything, run the rounds and print the table."""
    with ExitStack() as stack:
        demo = stack.enter_context(demo_server())
        _prepare_baseline(demo.folder)
        bare = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py", "--bind", f"127.0.0.1:{BARE_PORT}"]
        stack.enter_context(running([*bare, "bench.bare_app:app"], demo.environment, f"{BARE_PORT}/note"))
        prompt, baseline = [], []
        for _ in range(ROUNDS):
            baseline.append(measure(f"http://127.0.0.1:{BARE_PORT}/note"))
            prompt.append(measure(f"{demo.address}/prompt", f"Authorization: Bearer {demo.token}"))
        _report(baseline, prompt)


def _prepare_baseline(folder: Path) -> None:
    with psycopg.connect(locate(folder).conninfo("postgres"), autocommit=True) as connection:
        connection.execute("CREATE SCHEMA bench; GRANT USAGE ON SCHEMA bench TO keepline_app")
        connection.execute("CREATE TABLE bench.notes (id integer PRIMARY KEY, text text NOT NULL)")
        connection.execute("INSERT INTO bench.notes VALUES (1, %s)", ("\n".join(LINES),))
        connection.execute("GRANT SELECT ON bench.notes TO keepline_app")


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
