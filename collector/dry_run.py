"""The plan of a sweep, as `collect --dry-run` prints it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from collector.sweep import State


def print_plan(found: Sequence[State]) -> None:
    """One line per cell: what would be run, and how much of it is done."""
    table = Table(box=None, pad_edge=False)
    for name in ("condition", "env", "variant"):
        table.add_column(name)
    for name in ("runs", "complete", "iterations", "done", "calls", "rollouts"):
        table.add_column(name, justify="right")
    cells: dict[tuple[str, str, str], list[State]] = {}
    for state in found:
        spec = state.spec
        cells.setdefault((spec.condition, spec.task.id, spec.method.id), []).append(state)
    total: Counter[str] = Counter()
    for cell, members in cells.items():
        budget = _budget(members)
        total.update(budget)
        table.add_row(*cell, *(f"{number:,}" for number in budget.values()))
    table.add_section()
    table.add_row("all", "", "", *(f"{number:,}" for number in total.values()))
    # Piped, it keeps its full width instead of that of an assumed terminal.
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    console.print(
        "Calls and rollouts without warm-up and without answers asked for again; training episodes of baselines count.",
        style="dim",
    )


def _budget(members: Sequence[State]) -> dict[str, int]:
    specs = [state.spec for state in members]
    return {
        "runs": len(members),
        "complete": sum(state.complete for state in members),
        "iterations": sum(spec.iterations for spec in specs),
        "done": sum(min(state.finished, state.spec.iterations) for state in members),
        "calls": sum(spec.iterations * spec.method.calls for spec in specs),
        "rollouts": sum(spec.episodes for spec in specs),
    }
