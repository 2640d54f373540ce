"""The plan of a sweep, as `collect --dry-run` prints it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from collector.sweep import State
from collector.system.regular_files import RECORDS, read_regular


def print_plan(found: Sequence[State], out: Path, rate: float | None = None) -> None:
    """One line per cell: what would be run, and how much of it is done.

    Args:
        found: the runs, and what the disk holds of them.
        out: folder that holds the conditions.
        rate: calls per second, for a line with the hours that the calls left take; no line where it is None.
    """
    table = Table(box=None, pad_edge=False)
    for name in ("condition", "env", "variant"):
        table.add_column(name)
    for name in ("runs", "complete", "iterations", "done", "calls", "rollouts", "warm-up", "asked again"):
        table.add_column(name, justify="right")
    total: Counter[str] = Counter()
    cells: dict[tuple[str, str, str], list[State]] = {}
    for state in found:
        cells.setdefault(state.spec.cell, []).append(state)
    for cell, members in cells.items():
        budget = _budget(members, out)
        total.update(budget)
        table.add_row(*cell, *(f"{number:,}" for number in budget.values()))
    table.add_section()
    table.add_row("all", "", "", *(f"{number:,}" for number in total.values()))
    # Piped, it keeps its full width instead of that of an assumed terminal.
    console = Console(width=None if sys.stdout.isatty() else 180)
    console.print(table)
    console.print(
        "Calls and rollouts are the budget; warm-up rollouts and answers asked for again so far come on top. "
        "Of remedies that may do with fewer rollouts the most are counted. "
        "Training episodes of baselines count as rollouts.",
        style="dim",
    )
    if rate is not None:
        left = sum(_calls_left(state) for state in found)
        console.print(f"{left:,} calls are left: {left / rate / 3600:,.1f} hours at {rate:g} calls a second.")


def _budget(members: Sequence[State], out: Path) -> dict[str, int]:
    specs = [state.spec for state in members]
    return {
        "runs": len(members),
        "complete": sum(state.complete for state in members),
        "iterations": sum(spec.iterations for spec in specs),
        "done": sum(min(state.finished, state.spec.iterations) for state in members),
        "calls": sum(spec.calls for spec in specs),
        "rollouts": sum(spec.episodes for spec in specs),
        "warm-up": sum(spec.warmup for spec in specs),
        "asked again": sum(_asked_again(out / spec.folder / "calls.jsonl") for spec in specs),
    }


def _calls_left(state: State) -> int:
    return max(state.spec.iterations - state.finished, 0) * state.spec.calls // state.spec.iterations


def _asked_again(calls: Path) -> int:
    """Answers on the disk that were discarded: the record of a call ends in its error, or null."""
    try:
        data = read_regular(calls, RECORDS)
    except OSError:
        return 0
    return data.count(b"\n") - data.count(b'"error":null}\n')
