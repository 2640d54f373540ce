"""The audit of synthetic records, command by command as a user runs it: cold, from its cache, and from a pack.

Seconds are of processor time.

python -m benchmarks.audit_scale --revisions 10000 --revisions 1000000
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from audit.cache_folder import VARIABLE
from benchmarks.processes import Watched, watch
from benchmarks.synthetic import write_records

COMMANDS = ("summary", "salience", "patterns", "agreement", "runs")
SIZES = (10_000, 100_000, 1_000_000)
TRACE = Path("benchmarks/results/audit-memory.json")


def measure(sizes: Sequence[int] = SIZES) -> Iterator[dict[str, Any]]:
    """One result a size: seconds and peak memory of each command; all five cold, all five again, all five packed."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as name, cache_in(Path(name) / "cache"):
            records, pack = Path(name) / "records", Path(name) / "records.pack.parquet"
            write_records(records, revisions=size)
            rounds = {"cold": _audit(records), "cached": _audit(records)}
            packing = watch(_command("pack", str(records), "--out", str(pack)))
            os.environ[VARIABLE] = str(Path(name) / "unused")
            rounds["packed"] = _audit(pack)
            yield {
                "revisions": size,
                "bytes": sum(path.stat().st_size for path in records.rglob("*.json*")),
                "packed_bytes": pack.stat().st_size,
                "packing": {"seconds": packing.processor, "peak_megabytes": packing.peak},
                "seconds": {kind: sum(run.processor for run in runs.values()) for kind, runs in rounds.items()},
                "peak_megabytes": max(run.peak for runs in rounds.values() for run in runs.values()),
                "commands": {
                    kind: {
                        command: {"seconds": run.processor, "peak_megabytes": run.peak} for command, run in runs.items()
                    }
                    for kind, runs in rounds.items()
                },
                "trace": {command: run.trace for command, run in rounds["cold"].items()},
            }


@contextmanager
def cache_in(folder: Path) -> Iterator[None]:
    """Have commands keep their cache in a folder of its own."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(folder)
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before


def _audit(records: Path) -> dict[str, Watched]:
    return {command: watch(_command(command, str(records), "--format", "json")) for command in COMMANDS}


def _command(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("audit")), *words]


COLUMNS = (
    "revisions", "bytes", "five commands cold (s)", "from the cache (s)", "packed (s)", "peak memory (MB)",
    "µs a revision, cold", "packing (s)", "memory (MB)", "packed bytes",
)  # fmt: skip
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


def line(row: dict[str, Any]) -> str:
    """The row of the printed table."""
    seconds = row["seconds"]
    cells = [
        f"{row['revisions']:,}", f"{row['bytes'] / 1e6:,.0f} MB",
        *(f"{seconds[kind]:.1f}" for kind in ("cold", "cached", "packed")),
        f"{row['peak_megabytes']:,.0f}", f"{1e6 * seconds['cold'] / row['revisions']:.0f}",
        f"{row['packing']['seconds']:.1f}", f"{row['packing']['peak_megabytes']:,.0f}",
        f"{row['packed_bytes'] / row['bytes']:.0%}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def results(sizes: Sequence[int] = SIZES) -> list[dict[str, Any]]:
    """The rows, printed one by one, as they are kept; memory over time of the largest goes into a file of its own."""
    print(HEAD)
    kept = []
    for row in measure(sizes):
        print(line(row), flush=True)
        trace = row.pop("trace")
        kept.append(row)
    TRACE.parent.mkdir(parents=True, exist_ok=True)
    TRACE.write_text(json.dumps({"revisions": kept[-1]["revisions"], "seconds, megabytes": trace}) + "\n")
    return kept


def main() -> None:
    """Print one row a size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--revisions", type=int, action="append", help="a size; repeat it for several")
    results(parser.parse_args().revisions or SIZES)


if __name__ == "__main__":
    main()
