"""What signed identity and policies cost GET /v1/prompt: the same processes, with row-level security on and off.

    .venv/bin/python -m bench.isolation

Needs wrk (Debian's package). Off means: row-level security disabled on every table, and the check of the token's
sign-out replaced by nothing, so that no signature is verified. Queries repeat the predicate, so both answer alike.
Rounds alternate within one run of the server, on for even ones, so that what else the machine does falls on both.
"""

import statistics

import psycopg

from bench.load import Demo, Figures, demo_server, measure
from tenancy.embedded import locate

ROUNDS = 9
_TABLES = "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relrowsecurity"
_NOTHING = """
CREATE OR REPLACE FUNCTION tenancy.admit(issued_at bigint, client text) RETURNS void
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS 'SELECT'
"""


def main() -> None:
    """Start the server, run the rounds and print the table."""
    with demo_server() as demo, psycopg.connect(locate(demo.folder).conninfo("postgres"), autocommit=True) as database:
        tables = [name for (name,) in database.execute(_TABLES)]
        row = database.execute("SELECT pg_get_functiondef('tenancy.admit'::regproc)").fetchone()
        as_it_is = str(row[0]) if row else ""
        on, off = [], []
        _measure(demo)  # warms both workers
        for _ in range(ROUNDS):
            _switch(database, tables, "ENABLE", as_it_is)
            on.append(_measure(demo))
            _switch(database, tables, "DISABLE", _NOTHING)
            off.append(_measure(demo))
    _report(on, off)


def _switch(database: psycopg.Connection[tuple[object, ...]], tables: list[str], verb: str, admit: str) -> None:
    for table in tables:
        database.execute(f"ALTER TABLE {table} {verb} ROW LEVEL SECURITY".encode())
    database.execute(admit.encode())


def _measure(demo: Demo) -> Figures:
    return measure(f"{demo.address}/prompt", f"Authorization: Bearer {demo.token}")


def _report(on: list[Figures], off: list[Figures]) -> None:
    print("| row-level security | requests/s | p50 ms | p99 ms |\n|---|---|---|---|")
    for name, rounds in (("off", off), ("on", on)):
        rate, p50, p99 = (statistics.median(values) for values in zip(*rounds, strict=True))
        print(f"| {name} | {rate:,.0f} | {p50:.2f} | {p99:.2f} |")
    ratios = [ours.requests_per_second / theirs.requests_per_second for ours, theirs in zip(on, off, strict=True)]
    print(f"\nthroughput ratio on/off, median of {ROUNDS} pairs: {statistics.median(ratios):.2f}")
    print(f"pairs: {', '.join(f'{ratio:.2f}' for ratio in ratios)}")


if __name__ == "__main__":
    main()
