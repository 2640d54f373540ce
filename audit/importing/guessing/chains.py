"""What follows from rows that continue each other: the candidate of a row is one of the two in the row before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from audit.importing.guessing.columns import Column

Direction = Literal["forward", "backward", "unknown"]


def kept_in(initial: Column, revised: Column, runs: Sequence[Sequence[int]]) -> dict[int, bool] | None:
    """Whether the revised candidate was kept, by row, as the next row of the run shows.

    Args:
        initial: the candidates before.
        revised: the candidates after.
        runs: the rows of each run, in the order of its iterations.

    Returns:
        The rows in which the two differ and whose next row has one of them; None where some next row has neither, or
        no revised candidate is followed up.
    """
    kept = {}
    for row, following in _successions(runs):
        before, after, then = initial.values[row], revised.values[row], initial.values[following]
        if before == after or None in (before, then):
            continue
        if then not in (before, after):
            return None
        kept[row] = then == after
    return kept if any(kept.values()) else None


def direction_of(first: Column, second: Column, runs: Sequence[Sequence[int]]) -> Direction:
    """Which of two columns has the candidates before: the first (forward) or the second (backward)."""
    forward, backward = kept_in(first, second, runs), kept_in(second, first, runs)
    if (forward is None) == (backward is None):
        return "unknown"
    return "forward" if forward is not None else "backward"


def beginnings(initial: Column, revised: Column, rows: Sequence[int]) -> tuple[int, int]:
    """How many rows have a candidate before that is of an earlier row, and how many one that no earlier row has."""
    seen: set[str] = set()
    linked = new = 0
    for row in rows:
        before = repr(initial.values[row])
        if seen and before in seen:
            linked += 1
        else:
            new += 1
        seen |= {before, repr(revised.values[row])}
    return linked, new


def _successions(runs: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    for rows in runs:
        yield from pairwise(rows)
