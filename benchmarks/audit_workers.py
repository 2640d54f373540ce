"""`audit rescore` on policies of InvertedPendulum: threads, `--workers 2` and `--workers ray`, one after the other.

python -m benchmarks.audit_workers --iterations 20
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.processes import watch

WAYS: Final = {"threads": (), "--workers 2": ("--workers", "2"), "--workers ray": ("--workers", "ray")}
ROLLOUTS: Final = 200
FEW: Final = 2
"""Rollouts of a policy that take next to no time: what is left is the start."""


def measure(iterations: int) -> Iterator[dict[str, Any]]:
    """Seconds of the whole command, and without its start, in each way."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "records"
        settings = ["--env", "invertedpendulum", "--variant", "threetraj", "--backend", "simulated", "--runs", "1"]
        watch([_program("collect"), *settings, "--iterations", str(iterations), "--quiet", "--out", str(folder)])
        for way, options in WAYS.items():
            line = [_program("audit"), "rescore", str(folder), "--no-cache", *options, "--rollouts"]
            start, whole = watch([*line, str(FEW)]).seconds, watch([*line, str(ROLLOUTS)]).seconds
            yield {"way": way, "policies": 2 * iterations, "start": start, "seconds": whole, "work": whole - start}


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def results(iterations: int = 20) -> list[dict[str, object]]:
    """Print a row for each way as it is measured."""
    print("| | whole (s) | ratio | without the start (s) | ratio |\n|---|---|---|---|---|")
    rows: list[dict[str, Any]] = []
    for row in measure(iterations):
        rows.append(row)
        whole, work = (row[name] / rows[0][name] for name in ("seconds", "work"))
        print(f"| {row['way']} | {row['seconds']:.1f} | {whole:.2f} | {row['work']:.1f} | {work:.2f} |", flush=True)
    return rows


def main() -> None:
    """Print one row a way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=20)
    results(parser.parse_args().iterations)


if __name__ == "__main__":
    main()
