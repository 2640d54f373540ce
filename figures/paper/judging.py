"""Cells with their verdicts, and how their numbers read: one function for each kind of number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from audit.measures.summary import Summary
from audit.output.numbers import known
from figures.paper.bases import Source
from figures.paper.cells import Cell, Goal
from figures.paper.published import Published, Withheld
from figures.tables import MISSING, shown
from stats.published.verdicts import against_summary, against_value


def spread(summary: Summary, digits: int = 2) -> str:
    """Mean ± standard deviation; of one run the mean alone."""
    number, other = (decimal(value, digits) for value in (summary.mean, summary.std))
    return number if MISSING in (number, other) else f"{number} ± {other}"


def decimal(value: float, digits: int = 2) -> str:
    """A number with so many decimals."""
    return shown(value, f"{{:.{digits}f}}")


def percent(value: float) -> str:
    """A percentage, with one decimal."""
    return shown(value, "{:.1f}%")


def probability(value: float | None) -> str:
    """A p-value as the paper prints it: four decimals, powers of ten below 0.0001."""
    if value == 0:
        return "0"
    return shown(value, "{:.4f}" if value is not None and value >= 1e-4 else "{:.1e}")


def absent(row: tuple[str, ...], column: str, env: str, published: Published | None = None) -> Cell:
    """A number that the records do not have."""
    return Cell(row=row, column=column, env=env, published=published)


def mean_cell(
    row: tuple[str, ...],
    column: str,
    source: Source,
    summary: Summary,
    published: Published | None,
    *,
    goal: Goal = Goal.highest,
    named: str = "",
    of_error: bool = False,
) -> Cell:
    """A mean over runs with its standard deviation, or with its standard error.

    Args:
        row: ids of the row.
        column: id of the column.
        source: the runs.
        summary: of what is averaged over them.
        published: the published mean and spread.
        goal: which cell of the row is the best.
        named: what follows the number where the column does not name the method.
        of_error: whether the spread is a standard error.
    """
    deviation = summary.std / (math.sqrt(summary.n) if of_error else 1.0) if summary.n else math.nan
    shown = spread(Summary(summary.mean, deviation, summary.n))
    cell = value_cell(row, column, source, summary, published, goal=goal, of_error=of_error)
    return replace(cell, text=f"{shown} ({named})" if named and summary.n else shown, spread=known(deviation))


def value_cell(
    row: tuple[str, ...],
    column: str,
    source: Source,
    summary: Summary,
    published: Published | None,
    *,
    goal: Goal = Goal.none,
    write: Callable[[float], str] = decimal,
    of_error: bool = False,
) -> Cell:
    """A number over runs, judged by its published spread where that is known.

    Args:
        row: ids of the row.
        column: id of the column.
        source: the runs.
        summary: the number, and the spread that it has over runs.
        published: the published number.
        goal: which cell of the row is the best.
        write: how the number reads.
        of_error: whether the published spread is a standard error.
    """
    verdict, withheld = None, unlike(source, summary, published)
    if published and published.value and not withheld and math.isfinite(summary.mean):
        if published.spread:
            scale = math.sqrt(published.runs) if of_error else 1.0
            verdict = against_summary(summary, published.value, published.spread, published.runs, scale)
        else:
            verdict = against_value(summary, published.value, published.runs)
            withheld = None if verdict else Withheld.constant
    return Cell(
        row=row,
        column=column,
        text=write(summary.mean),
        value=known(summary.mean),
        spread=known(summary.std),
        runs=summary.n,
        env=source.env,
        method=source.method,
        records=source.condition,
        goal=goal,
        published=published,
        verdict=verdict,
        withheld=withheld,
    )


def unlike(source: Source, summary: Summary, published: Published | None) -> Withheld | None:
    """Why a number over runs cannot be compared with the published one; None where it can, or one is missing."""
    if published is None or not summary.n or math.isnan(summary.mean):
        return None
    return source.unlike(published.budget) or published.doubt or (Withheld.runs if summary.n < 2 else None)
