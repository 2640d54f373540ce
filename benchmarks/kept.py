"""What is kept of an analysis: commands on unchanged records against a process that only imports their libraries.

python -m benchmarks.kept --data data/runs
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.audit_scale import cache_in
from benchmarks.synthetic import write_records
from benchmarks.timing import best_times

COMMANDS = ("salience", "patterns", "rates")
BARE = "import duckdb, msgspec, typer, rich.table"
REVISIONS = 1_000_000


def measure(records: Path) -> Iterator[dict[str, Any]]:
    """For each command its first run, the best of several on what is kept, and a process with imports alone."""
    with tempfile.TemporaryDirectory() as name, cache_in(Path(name)):
        for command in COMMANDS:
            words = (str(Path(sys.executable).with_name("audit")), command, str(records))
            started = time.perf_counter()
            _run(*words)
            cold = time.perf_counter() - started
            warm, bare = best_times(partial(_run, *words), partial(_run, sys.executable, "-c", BARE))
            yield {"command": command, "cold": cold, "warm": warm, "bare": bare, "ratio": warm / bare}


def _run(*words: str) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def results(records: Path | None = None) -> list[dict[str, Any]]:
    """The rows, printed one by one, of some records or of a million synthetic revisions."""
    print("| command | first (s) | kept (s) | imports (s) | ratio |\n|---|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for row in measure(records or write_records(Path(name), revisions=REVISIONS)):
            seconds = " | ".join(f"{row[name]:.2f}" for name in ("cold", "warm", "bare"))
            print(f"| `{row['command']}` | {seconds} | {row['ratio']:.1f} |", flush=True)
            rows.append(row)
    return rows


def main() -> None:
    """Print one row a command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="records; without it a million synthetic revisions")
    results(parser.parse_args().data)


if __name__ == "__main__":
    main()
