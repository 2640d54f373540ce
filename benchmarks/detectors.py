"""The detectors that read texts, columns kept and their own results not: on one core, and on all.

python -m benchmarks.detectors --revisions 10000
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.audit_scale import cache_in
from benchmarks.processes import watch
from benchmarks.synthetic import write_records
from collector.system.cores import cores

DETECTORS = ("resolved", "driver")
ROUNDS = 3


def measure(size: int = 10_000) -> Iterator[dict[str, Any]]:
    """Seconds of `audit salience` with each detector after `audit summary`, the best of some rounds taken in turns."""
    every = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as name:
        records = write_records(Path(name) / "records", revisions=size)
        for detector in DETECTORS:
            seconds: dict[int, list[float]] = {1: [], len(every): []}
            for turn in range(ROUNDS):
                for number, found in seconds.items():
                    with cache_in(Path(name) / f"cache-{detector}-{turn}-{number}"):
                        watch(_audit("summary", records))
                        os.sched_setaffinity(0, sorted(every)[:number])
                        try:
                            found.append(watch(_audit("salience", records, "--detector", detector)).seconds)
                        finally:
                            os.sched_setaffinity(0, every)
            one, all_ = min(seconds[1]), min(seconds[len(every)])
            yield {"detector": detector, "revisions": size, "one_core": one, "all_cores": all_, "ratio": one / all_}


def results(size: int = 10_000) -> list[dict[str, Any]]:
    """Print a row for each detector as it is measured."""
    print(f"| detector | one core (s) | {cores()} cores (s) | ratio |\n|---|---|---|---|")
    kept = []
    for row in measure(size):
        print(
            f"| `{row['detector']}` | {row['one_core']:.1f} | {row['all_cores']:.1f} | {row['ratio']:.1f} |", flush=True
        )
        kept.append(row)
    return kept


def _audit(command: str, records: Path, *options: str) -> list[str]:
    return [str(Path(sys.executable).with_name("audit")), command, str(records), *options]


def main() -> None:
    """Print one row a detector."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--revisions", type=int, default=10_000)
    results(parser.parse_args().revisions)


if __name__ == "__main__":
    main()
