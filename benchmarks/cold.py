"""`audit salience` with nothing kept against DuckDB's `read_json` of the columns that it needs.

python -m benchmarks.cold --data data/runs
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.audit_scale import cache_in
from benchmarks.kept import spent
from benchmarks.synthetic import write_records

REVISIONS: Final = 100_000
ROUNDS: Final = 5
READ: Final = """
import sys, duckdb
duckdb.sql('''
    select count(columns(*))
    from read_json($file, format = 'newline_delimited', columns = {
        condition: 'varchar', env: 'varchar', variant: 'varchar', run: 'bigint', iteration: 'bigint',
        initial: 'struct(params double[], "returns" double[], seeds ubigint[], mean_return double)',
        revised: 'struct(
            "source" varchar, params double[], answer varchar, "returns" double[], seeds ubigint[], mean_return double
        )',
        selected: 'varchar',
        evidence: 'struct(kind varchar, shown struct(label varchar, rollout bigint)[])'
    })
''', params={"file": sys.argv[1] + "/**/episodes.jsonl"}).fetchall()
"""
"""It checks nothing and counts the values of each column."""


def measure(records: Path) -> list[dict[str, Any]]:
    """Median processor seconds and most memory of both ways, in turns: with a cache to fill, and with none."""
    command = [str(Path(sys.executable).with_name("audit")), "salience", str(records)]
    ways = {
        "cold": command,
        "--no-cache": [*command, "--no-cache"],
        "read_json": [sys.executable, "-c", READ, str(records)],
    }
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, words in ways.items():
            with tempfile.TemporaryDirectory() as cache, cache_in(Path(cache)):
                rounds[name].append(spent(words))
    seconds = {name: statistics.median(second for second, _ in each) for name, each in rounds.items()}
    return [
        {
            "what": name,
            "seconds": seconds[name],
            "megabytes": max(most for _, most in rounds[name]),
            "ratio": seconds[name] / seconds["read_json"],
        }
        for name in ways
    ]


def results(records: Path | None = None) -> list[dict[str, Any]]:
    """The rows, printed, of some records or of synthetic ones."""
    print("| `audit salience` | processor time (s) | MB | times `read_json` |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        rows = measure(records or write_records(Path(name), revisions=REVISIONS))
    for row in rows:
        print(f"| {row['what']} | {row['seconds']:.2f} | {row['megabytes']:.0f} | {row['ratio']:.1f} |", flush=True)
    return rows


def main() -> None:
    """Print one row a way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help=f"records; without it {REVISIONS:,} synthetic revisions")
    results(parser.parse_args().data)


if __name__ == "__main__":
    main()
