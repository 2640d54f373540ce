"""Runs that have fewer iterations than they were to have, or than the others beside them: averages hide it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from audit.output.errors import count

CELL: Final = ("condition", "env", "variant")


def unfinished(facts: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence for every method on a task some of whose runs are unfinished or have iterations without a return.

    Args:
        facts: rows of `run_facts`. Where logs do not state how many iterations were planned, a run is compared
            with the longest one of its method on the task.
    """
    cells: dict[tuple[str, ...], list[_Run]] = {}
    for row in facts:
        key = tuple(str(row[name]) for name in CELL)
        planned = row["iterations_planned"]
        is_known = planned is not None and not math.isnan(planned)  # data frames have NaN for null
        run = _Run(
            int(row["iterations_finished"]), row.get("iterations_skipped", 0), int(planned) if is_known else None
        )
        cells.setdefault(key, []).append(run)
    return [line for key, runs in sorted(cells.items()) if (line := _line(", ".join(key), runs))]


class _Run(NamedTuple):
    """How many iterations of a run have a return, how many proposed nothing, and how many were planned, if known."""

    finished: int
    skipped: int
    planned: int | None

    @property
    def spent(self) -> int:
        """Iterations that are over."""
        return self.finished + self.skipped


def _line(cell: str, runs: list[_Run]) -> str:
    longest = max(run.spent for run in runs)
    short = [(run.spent, run.planned or longest) for run in runs if run.spent < (run.planned or longest)]
    parts = []
    if short:
        done, planned = map(_span, zip(*short, strict=True))
        parts.append(f"{len(short)} of {count(len(runs), 'run')} unfinished, {done} of {planned} iterations")
        if empty := sum(not spent for spent, _ in short):
            parts.append(f"{empty} without any, left out")
    if skipped := sum(run.skipped for run in runs):
        parts.append(f"{skipped} of {count(sum(run.spent for run in runs), 'iteration')} proposed nothing")
    if silent := sum(run.skipped > 0 and not run.finished for run in runs):
        parts.append(f"{silent} of {count(len(runs), 'run')} proposed nothing at all, left out")
    return f"{cell}: {'; '.join(parts)}" if parts else ""


def _span(numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    low, high = found[0], found[-1]
    return f"{low}" if low == high else f"{low} to {high}"
