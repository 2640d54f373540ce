"""`collect` with the simulated model over the seven tasks without MuJoCo and all nine methods, full budgets.

python -m benchmarks.collector_scale --runs 10
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.processes import spent
from collector.methods import METHODS
from collector.tasks import TASKS
from collector.tasks.dynamics import MujocoDynamics

RUNS = 10


def measure(runs: int) -> dict[str, object]:
    """Seconds, memory and what was collected."""
    tasks = [task.id for task in TASKS.values() if not isinstance(task.dynamics, MujocoDynamics)]
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "collector.cli", "--variant", "all", "--runs", str(runs), "--out", out]
        took = spent([*command, *(word for task in tasks for word in ("--env", task))])
        episodes = sum(path.read_bytes().count(b"\n") for path in Path(out).rglob("episodes.jsonl"))
        calls = sum(path.read_bytes().count(b"\n") for path in Path(out).rglob("calls.jsonl"))
    return {
        "tasks": len(tasks), "methods": len(METHODS), "runs": runs, "iterations": episodes, "calls": calls,
        "seconds": took.seconds, "peak_megabytes": took.megabytes,
    }  # fmt: skip


def results(runs: int = RUNS) -> list[dict[str, object]]:
    """The measurement, printed, as it is kept."""
    row = measure(runs)
    print(
        f"{row['tasks']} tasks × {row['methods']} methods × {runs} runs, {row['calls']:,} answers: "
        f"{row['seconds']:.0f} s, {row['peak_megabytes']:.0f} MB"
    )
    return [row]


def main() -> None:
    """Print the measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=RUNS)
    results(parser.parse_args().runs)


if __name__ == "__main__":
    main()
