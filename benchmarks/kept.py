"""What is kept of an analysis: commands on unchanged records against a process that only imports their libraries.

python -m benchmarks.kept --data data/runs
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.audit_scale import cache_in
from benchmarks.synthetic import write_records

COMMANDS: Final = (
    *(f"{name} {{}}" for name in ("salience", "patterns", "rates", "positions", "check", "mentions", "topics")),
    *(f"{name} {{}}" for name in ("summary", "runs", "noise", "controls", "severity", "agreement", "sensitivity")),
    *("obedience {}", "revisions {}", "revisions {} --format csv"),
    *("sql {} 'select count(*) from revisions'", "find {} --case salience", "show {} cartpole threetraj 1 0"),
    "sample {} --n 20",
)
"""All that read records alone: none runs a policy, asks a model or writes a file."""
BARE: Final = "import duckdb, msgspec, typer, rich.table"
REVISIONS: Final = 1_000_000
ROUNDS: Final = 3


def measure(records: Path) -> Iterator[dict[str, Any]]:
    """Processor seconds and memory of each command, first and then on what is kept; the least of some rounds."""
    with tempfile.TemporaryDirectory() as name, cache_in(Path(name)):
        for command in COMMANDS:
            words = [str(Path(sys.executable).with_name("audit")), *shlex.split(command.format(records))]
            first, _ = spent(words)
            rounds = [(spent(words), spent([sys.executable, "-c", BARE])) for _ in range(ROUNDS)]
            warm, megabytes = min(kept for kept, _ in rounds)
            bare = min(seconds for _, (seconds, _) in rounds)
            yield {
                "command": command.format("DIR"),
                "first": first,
                "warm": warm,
                "megabytes": megabytes,
                "bare": bare,
                "ratio": warm / bare,
            }


def spent(words: list[str]) -> tuple[float, float]:
    """Processor seconds of a command with all its children, and the most memory of it, in megabytes."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def results(records: Path | None = None) -> list[dict[str, Any]]:
    """The rows, printed one by one, of some records or of a million synthetic revisions."""
    print("| command | first (s) | kept (s) | MB | imports (s) | ratio |\n|---|---|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for row in measure(records or write_records(Path(name), revisions=REVISIONS)):
            print(
                f"| `{row['command']}` | {row['first']:.2f} | {row['warm']:.2f} | {row['megabytes']:.0f} "
                f"| {row['bare']:.2f} | {row['ratio']:.1f} |",
                flush=True,
            )
            rows.append(row)
    return rows


def main() -> None:
    """Print one row a command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="records; without it a million synthetic revisions")
    results(parser.parse_args().data)


if __name__ == "__main__":
    main()
