"""Every analysis that reads records alone, as a user runs it: cold, then from the cache, as a ratio to `audit summary`.

python -m benchmarks.analyses --revisions 10000
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.audit_scale import cache_in
from benchmarks.processes import watch
from benchmarks.synthetic import write_records

COMMANDS = (
    "summary",
    "salience",
    "salience --detector resolved",
    "salience --detector driver",
    "rates",
    "noise",
    "controls",
    "severity",
    "agreement",
    "patterns --wide",
    "sensitivity",
    "revisions --format csv",
    "mentions --format csv",
    "find --case salience",
    "check",
    "sample --n 100",
)


def measure(size: int = 10_000) -> Iterator[dict[str, Any]]:
    """Seconds cold and cached, and the most memory, of each command over `size` revisions with answers of 2 KB."""
    with tempfile.TemporaryDirectory() as name:
        records = write_records(Path(name) / "records", revisions=size)
        for place, command in enumerate(COMMANDS):
            first, *options = shlex.split(command)
            line = [str(Path(sys.executable).with_name("audit")), first, str(records), *options]
            with cache_in(Path(name) / f"cache-{place}"):
                cold, cached = watch(line), watch(line)
            yield {
                "command": command,
                "revisions": size,
                "cold_seconds": cold.seconds,
                "cached_seconds": cached.seconds,
                "peak_megabytes": max(cold.peak, cached.peak),
            }


def results(size: int = 10_000) -> list[dict[str, object]]:
    """Print a row for each command as it is measured."""
    print("| command | cold (s) | cached (s) | cached, against summary | memory (MB) |\n|---|---|---|---|---|")
    kept: list[dict[str, object]] = []
    for row in measure(size):
        base = kept[0]["cached_seconds"] if kept else row["cached_seconds"]
        row["ratio"] = row["cached_seconds"] / base
        print(
            f"| `{row['command']}` | {row['cold_seconds']:.1f} | {row['cached_seconds']:.1f} | {row['ratio']:.1f} "
            f"| {row['peak_megabytes']:.0f} |",
            flush=True,
        )
        kept.append(row)
    return kept


def main() -> None:
    """Print one row a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--revisions", type=int, default=10_000)
    results(parser.parse_args().revisions)


if __name__ == "__main__":
    main()
