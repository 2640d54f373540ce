"""Commands of `audit` over records, as a user runs them, each against a named alternative taken in turns with it.

    python -m benchmarks.commands cold --revisions 100000      # nothing kept: against read_json and pandas
    python -m benchmarks.commands cores                        # one core against all, threads against workers

Seconds are of processor time except in `cores`, where they are what the user waits for. Memory is that of the
largest process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.synthetic import write_records
from benchmarks.timing import Spent, cache_in, program, spent

ROUNDS: Final = 5
REVISIONS: Final = 10_000
"""Of the synthetic records."""
ITERATIONS: Final = 20
"""Of the run whose policies are run again."""
BARE: Final = "import duckdb, msgspec, typer, rich.table"

READ_JSON: Final = """
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
"""Checks nothing, and counts the values of each column that `audit salience` needs."""
PANDAS: Final = """
import sys
from pathlib import Path
from benchmarks.commands import in_pandas
in_pandas(Path(sys.argv[1]))
"""


def in_pandas(records: Path) -> tuple[int, int, int]:
    """Regressions, strict and permissive salience problems, by a script as one writes it for an afternoon."""
    import json

    import pandas as pd

    lines = [json.loads(line) for path in records.rglob("episodes.jsonl") for line in path.read_bytes().splitlines()]
    frame = pd.json_normalize([line for line in lines if line["variant"] == "threetraj" and line["revised"]])
    returns = pd.DataFrame(frame["initial.returns"].tolist())
    middle = returns.median(axis=1)
    median = returns.apply(lambda row: row.iloc[(row - middle[row.name]).abs().argmin()], axis=1)
    worst, best = returns.min(axis=1), returns.max(axis=1)
    regression = frame["revised.mean_return"] < frame["initial.mean_return"]
    cited = regression & frame["revised.answer"].str.contains("worst", case=False)
    strict, permissive = cited & (worst < median), cited & (worst <= median) & (worst < best)
    return int(regression.sum()), int(strict.sum()), int(permissive.sum())


def in_turns(ways: Mapping[str, Sequence[str]]) -> dict[str, Spent]:
    """Medians of some rounds of each way, taken in turns, so that a busy moment hits all alike.

    Args:
        ways: commands by name; each begins without a cache.
    """
    rounds: dict[str, list[Spent]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, words in ways.items():
            with tempfile.TemporaryDirectory() as empty, cache_in(Path(empty)):
                rounds[name].append(spent(words))
    return {name: Spent(*map(statistics.median, zip(*each, strict=True))) for name, each in rounds.items()}


def cold(records: Path) -> Iterator[dict[str, Any]]:
    """`audit salience` with nothing kept, and the same counts by others; what a pack of the records takes."""
    with tempfile.TemporaryDirectory() as folder:
        pack = Path(folder) / "records.pack.parquet"
        packing = program("audit", "pack", records, "--force", "--out", pack)
        spent(packing)
        found = in_turns(
            {
                "read_json": [sys.executable, "-c", READ_JSON, str(records)],
                "pandas": [sys.executable, "-c", PANDAS, str(records)],
                "imports": [sys.executable, "-c", BARE],
                "salience": program("audit", "salience", records),
                "salience --no-cache": program("audit", "salience", records, "--no-cache"),
                "salience of a pack": program("audit", "salience", pack),
                "pack": packing,
            }
        )
        size = sum(path.stat().st_size for path in records.rglob("*.json*"))
        yield {"what": "a pack's share of the bytes", "ratio": pack.stat().st_size / size}
    for name, each in found.items():
        ratio = each.processor / found["read_json"].processor
        yield {"what": name, "seconds": each.processor, "megabytes": each.megabytes, "ratio": ratio}


def cores(records: Path) -> Iterator[dict[str, Any]]:
    """A detector that reads answers, on one core and on all; policies that are run again, by threads and by workers."""
    first = f"import os; os.sched_setaffinity(0, [{min(os.sched_getaffinity(0))}]); from audit.cli import main; main()"
    words = ["salience", str(records), "--detector", "resolved"]
    found = in_turns({"all cores": program("audit", *words), "one core": [sys.executable, "-c", first, *words]})
    yield from _against_the_first("salience --detector resolved", found)
    with tempfile.TemporaryDirectory() as folder:
        settings = (
            f"--env invertedpendulum --variant threetraj --runs 1 --iterations {ITERATIONS} --quiet --out".split()
        )
        spent(program("collect", *settings, folder))
        rescore = program("audit", "rescore", folder, "--no-cache", "--rollouts", 200)
        found = in_turns({"threads": rescore, "--workers 2": [*rescore, "--workers", "2"]})
        yield from _against_the_first("rescore", found)


def _against_the_first(command: str, found: dict[str, Spent]) -> Iterator[dict[str, Any]]:
    first = next(iter(found.values()))
    for name, each in found.items():
        yield {"what": f"{command}, {name}", "seconds": each.seconds, "ratio": each.seconds / first.seconds}


PARTS: Final = {"cold": cold, "cores": cores}


def results(part: str, records: Path | None = None, revisions: int | None = None) -> list[dict[str, Any]]:
    """The rows of a part, printed one by one, of some records or of synthetic ones."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        made = records or write_records(Path(folder), revisions=revisions or REVISIONS)
        for row in PARTS[part](made):
            if not rows:
                print("| what | (s) | MB | ratio |\n|---|---|---|---|")
            cells = (f"{row[key]:.2f}" if key in row else "" for key in ("seconds", "megabytes", "ratio"))
            print(f"| {row['what']} | {' | '.join(cells)} |", flush=True)
            rows.append(row)
    return rows


def main() -> None:
    """Print one row a command or a way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--data", type=Path, help="records; without it synthetic ones")
    parser.add_argument("--revisions", type=int, help="of the synthetic ones")
    given = parser.parse_args()
    results(given.part, given.data, given.revisions)


if __name__ == "__main__":
    main()
