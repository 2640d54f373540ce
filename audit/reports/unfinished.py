"""Runs that have fewer iterations than they were to have, or than the others beside them: averages hide it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from audit.output.errors import count

CELL: Final = ("condition", "env", "variant")


def unfinished(facts: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence for every method on a task some of whose runs are unfinished.

    Args:
        facts: rows of `run_facts`. Where logs do not state how many iterations were planned, a run is compared
            with the longest one of its method on the task.
    """
    cells: dict[tuple[str, ...], list[tuple[int, int | None]]] = {}
    for row in facts:
        key = tuple(str(row[name]) for name in CELL)
        planned = row["iterations_planned"]
        is_known = planned is not None and not math.isnan(planned)  # data frames have NaN for null
        cells.setdefault(key, []).append((int(row["iterations_finished"]), int(planned) if is_known else None))
    return [line for key, runs in sorted(cells.items()) if (line := _line(", ".join(key), runs))]


def _line(cell: str, runs: list[tuple[int, int | None]]) -> str:
    longest = max(finished for finished, _ in runs)
    short = [(finished, planned or longest) for finished, planned in runs if finished < (planned or longest)]
    if not short:
        return ""
    empty = sum(not finished for finished, _ in short)
    spans = [_span(numbers) for numbers in zip(*short, strict=True)]
    line = f"{cell}: {len(short)} of {count(len(runs), 'run')} unfinished, {spans[0]} of {spans[1]} iterations"
    return f"{line}; {empty} without any, left out" if empty else line


def _span(numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    low, high = found[0], found[-1]
    return f"{low}" if low == high else f"{low} to {high}"
