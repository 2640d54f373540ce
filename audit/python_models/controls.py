"""Computes the relation `controls`: regression rates of revisions that start from equally good policies.

A strong initial policy can hardly improve and easily regress, whatever the critic looks at. The control's second
proposal saw no evidence, so what a method does worse than it, from the same start, is the critic's doing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from audit.measures.bootstrap import UNKNOWN, percentile_interval, resampled_sums
from audit.measures.cluster_robust import are_few
from audit.output.numbers import known
from audit.python_models.batches import batches, write_lines
from audit.vocabulary.methods import CONTROL

if TYPE_CHECKING:
    import duckdb

STARTS: Final = ("floor", "low", "partial", "high")
"""Parts of a task's range, from its floor to its optimum."""
ALL: Final = "matched"
"""Names all parts together, each weighted with how often the method starts from it."""

Floats = NDArray[np.float64]
REVISIONS: Final = ("revisions", "regressions")
ROUGH: Final = ["difference_pct", "citing_difference_pct"]
CITING: Final = ("citing", "citing_regressions")
"""Those whose answer refers to what is asked about: a part of the revisions."""

Cell = tuple[str, str, str]
Row = dict[str, Any]


def write_controls(counts: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Compare every method with the control of its condition and task, and write a line of JSON for each comparison.

    Args:
        counts: a query for all of the relation `start_counts`, which was executed and not yet fetched.
        path: the file to write.
    """
    rows = [row for batch in batches(counts) for row in batch]
    tables, citing = (_tables(rows, names) for names in (REVISIONS, CITING))
    controls = {(row["condition"], row["env"], row["variant"]) for row in rows if row["is_control"]}
    write_lines(
        path, (line for cell in tables for line in _compared(cell, tables, citing[cell], _control(cell, controls)))
    )


def _control(cell: Cell, controls: Collection[Cell]) -> str:
    """The method to compare a cell with: the usual one, or if it is absent another that sends its prompt twice."""
    there = sorted(control for control in controls if control[:2] == cell[:2])
    return CONTROL if not there or (*cell[:2], CONTROL) in there else there[0][2]


def _tables(rows: Sequence[Row], names: tuple[str, str]) -> dict[Cell, Floats]:
    """Two counts of each condition, task and method, revisions and regressions: shape (runs, parts, 2)."""
    runs: dict[Cell, dict[int, Floats]] = defaultdict(dict)
    for row in rows:
        table = runs[row["condition"], row["env"], row["variant"]]
        counts = table.setdefault(row["run"], np.zeros((len(STARTS), 2)))
        counts[STARTS.index(row["start"])] = [row[name] for name in names]
    return {cell: np.stack([table for _, table in sorted(runs[cell].items())]) for cell in sorted(runs)}


def _compared(cell: Cell, tables: dict[Cell, Floats], citing: Floats, control: str) -> Iterator[Row]:
    condition, env, variant = cell
    if variant == control:
        return
    ours = tables[cell]
    theirs = tables.get((condition, env, control), np.zeros((0, len(STARTS), 2)))
    every, cited, controls = (_resampled(table, seed) for table, seed in ((ours, 0), (citing, 0), (theirs, 1)))
    named = {"condition": condition, "env": env, "variant": variant, "control": control}
    for place, start in [*enumerate(STARTS), (None, ALL)]:
        if place is not None and not ours[:, place, 0].any():
            continue
        mine, here, other = (_part(table.sum(axis=0), place) for table in (ours, citing, theirs))
        difference = _difference(ours, theirs, (every, controls), place)
        apart = _difference(citing, theirs, (cited, controls), place)
        yield {
            **named,
            "start": start,
            "runs": len(ours),
            "revisions": int(mine[0]),
            "regressions": int(mine[1]),
            "regressions_pct": difference[0],
            "control_runs": len(theirs),
            "control_revisions": int(other[0]),
            "control_regressions": int(other[1]),
            "control_regressions_pct": difference[1],
            **dict(zip(("difference_pct", "difference_pct_low", "difference_pct_high"), difference[2:], strict=True)),
            "citing": int(here[0]),
            "citing_regressions": int(here[1]),
            "citing_regressions_pct": apart[0],
            "citing_difference_pct": apart[2],
            "citing_difference_pct_low": apart[3],
            "citing_difference_pct_high": apart[4],
            "rough": ROUGH if are_few(min(len(ours), len(theirs))) else [],
        }


def _difference(
    ours: Floats, theirs: Floats, draws: tuple[Floats, Floats], place: int | None
) -> tuple[float | None, ...]:
    """The rate of a method, of its control, their difference, and the ends of its interval; None where unknown."""
    rates = _rates(ours.sum(axis=0), theirs.sum(axis=0), place)
    low, high = UNKNOWN
    if draws[0].size and draws[1].size:
        low, high = percentile_interval(np.subtract(*_rates(*draws, place)))
    values = (rates[0], rates[1], rates[0] - rates[1], low, high)
    return tuple(known(float(value)) for value in values)


def _resampled(table: Floats, seed: int) -> Floats:
    """Sums over runs drawn with replacement, shape (resamples, parts, 2); nothing where there are too few runs."""
    if len(table) < 2:
        return np.zeros((0, *table.shape[1:]))
    return resampled_sums(table.reshape(len(table), -1), seed=seed).reshape(-1, *table.shape[1:])


def _part(counts: Floats, place: int | None) -> Floats:
    return counts.sum(axis=-2) if place is None else counts[..., place, :]


def _rates(ours: Floats, theirs: Floats, place: int | None) -> tuple[Floats, Floats]:
    """Regressions per hundred revisions from one part of the range, of the method and of the control.

    For all parts the control's rates are weighted with how often the method starts from each (direct standardisation);
    NaN where the control never starts from a part that the method does.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if place is not None:
            return tuple(100 * table[..., place, 1] / table[..., place, 0] for table in (ours, theirs))  # type: ignore[return-value]
        weights = ours[..., 0] / ours[..., 0].sum(axis=-1, keepdims=True)
        rates = theirs[..., 1] / theirs[..., 0]
        matched = np.where(weights > 0, weights * rates, 0).sum(axis=-1)
        return 100 * ours[..., 1].sum(axis=-1) / ours[..., 0].sum(axis=-1), 100 * matched
