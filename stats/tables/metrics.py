"""Tables made of runs: what each method reached, and how a reference method compares with the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import pandas as pd

from audit.measures.holm import holm_within
from audit.measures.summary import Summary, summarise
from audit.measures.welch import Welch, welch_from_summaries
from stats.measures.effects import hedges_g_from_summaries

Row = dict[str, Any]
Metric = Literal["mean_return", "best_return"]
METRICS: Final[tuple[Metric, ...]] = ("mean_return", "best_return")


METRICS_COLUMNS: Final = (
    "condition",
    "env",
    "variant",
    "runs",
    "missing",
    "mean_return",
    "mean_return_std",
    "mean_return_se",
    "best_return",
    "best_return_std",
    "best_return_se",
    "stability_gap",
)
COMPARE_COLUMNS: Final = (
    "condition",
    "env",
    "reference",
    "baseline",
    "metric",
    "reference_runs",
    "baseline_runs",
    "reference_mean",
    "reference_std",
    "baseline_mean",
    "baseline_std",
    "gap",
    "welch_t",
    "df",
    "raw_p",
    "holm_p",
    "family",
    "significant",
    "hedges_g",
    "hedges_g_low",
    "hedges_g_high",
    "note",
)


class MissingReferenceError(ValueError):
    """No run is of the method that the others should be compared with."""


class Cell(NamedTuple):
    """One method on one task under one condition."""

    condition: str
    env: str
    variant: str


def metrics(runs: pd.DataFrame) -> list[Row]:
    """Average the per-run returns of every method on every task.

    Args:
        runs: one row per run, with columns condition, env, variant, mean_return and best_return: a run's mean and
            its best return over its iterations. A return that is not finite is missing.

    Returns:
        One row per (condition, env, variant): number of runs, how many of them miss a return and are left out of the
        averages, mean, sample standard deviation and standard error of both returns, and the stability gap: the mean
        over runs of best minus mean. None marks what cannot be computed.
    """
    return [_metrics_row(cell, frame) for cell, frame in _cells(runs)]


def _cells(runs: pd.DataFrame) -> Iterator[tuple[Cell, pd.DataFrame]]:
    for key, frame in runs.groupby(list(Cell._fields)):
        yield Cell(*map(str, key)), frame


def _metrics_row(cell: Cell, runs: pd.DataFrame) -> Row:
    complete = runs[list(METRICS)].astype(float).map(math.isfinite).all(axis=1)
    kept = runs[complete].astype(dict.fromkeys(METRICS, float))
    row: Row = {**cell._asdict(), "runs": len(runs), "missing": int((~complete).sum())}
    for metric in METRICS:
        summary = summarise(kept[metric])
        row[metric] = number(summary.mean)
        row[f"{metric}_std"] = number(summary.std)
        row[f"{metric}_se"] = number(summary.standard_error)
    row["stability_gap"] = number(summarise(kept["best_return"] - kept["mean_return"]).mean)
    return row


def compare(runs: pd.DataFrame, reference: str, metric: str, alpha: float = 0.05) -> list[Row]:
    """Test a reference method against every other method, task by task, within each condition.

    Args:
        runs: one row per run, with columns condition, env, variant, and the metric. NaN is missing.
        reference: the method that the others are compared with.
        metric: the column that is compared.
        alpha: a difference is called significant where its corrected p-value does not exceed this.

    Returns:
        One row per (condition, env, baseline), cells without runs included, so that a method missing on a task shows.
        Holm's correction runs over the tasks of one baseline in one condition, as in the paper; `family` is the
        number of tests corrected together. None marks what cannot be computed, and `note` states why. An infinite
        t (neither method varies and their means differ) is None too: JSON has no such number. Its p-value is then 0.

    Raises:
        MissingReferenceError: no run is of the reference method.
        ValueError: alpha is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, not {alpha}")
    if reference not in set(runs["variant"]):
        present = ", ".join(sorted(set(runs["variant"]))) or "none"
        raise MissingReferenceError(f"no finished runs of that method; methods here: {present}")
    cells = {cell: summarise(frame[metric]) for cell, frame in _cells(runs)}
    pairs = [(cell, cell._replace(variant=reference)) for cell in _grid(list(cells)) if cell.variant != reference]
    absent = Summary(math.nan, math.nan, 0)
    samples = [(cells.get(ours, absent), cells.get(theirs, absent)) for theirs, ours in pairs]
    tests = [welch_from_summaries(ours, theirs) for ours, theirs in samples]
    adjusted, sizes = holm_within([test.p for test in tests], [(c.condition, c.variant) for c, _ in pairs])
    return [
        _compare_row(cell, reference, metric, sample, test)
        | {"holm_p": number(float(p)), "family": int(size), "significant": None if math.isnan(p) else bool(p <= alpha)}
        | _effect(*sample)
        | {"note": _note(*sample, test)}
        for (cell, _), sample, test, p, size in zip(pairs, samples, tests, adjusted, sizes, strict=True)
    ]


def _grid(cells: list[Cell]) -> list[Cell]:
    """Every method of a condition on every task of it, whether it was run there or not."""
    grid = set()
    for condition in {cell.condition for cell in cells}:
        here = [cell for cell in cells if cell.condition == condition]
        grid |= {Cell(condition, a.env, b.variant) for a in here for b in here}
    return sorted(grid)


def _compare_row(cell: Cell, reference: str, metric: str, sample: tuple[Summary, Summary], test: Welch) -> Row:
    ours, theirs = sample
    return {
        "condition": cell.condition,
        "env": cell.env,
        "reference": reference,
        "baseline": cell.variant,
        "metric": metric,
        "reference_runs": ours.n,
        "baseline_runs": theirs.n,
        "reference_mean": number(ours.mean),
        "reference_std": number(ours.std),
        "baseline_mean": number(theirs.mean),
        "baseline_std": number(theirs.std),
        "gap": number(ours.mean - theirs.mean),
        "welch_t": number(test.t),
        "df": number(test.df),
        "raw_p": number(test.p),
    }


def _effect(ours: Summary, theirs: Summary) -> Row:
    effect = hedges_g_from_summaries(ours, theirs)
    return {"hedges_g": number(effect.value), "hedges_g_low": number(effect.low), "hedges_g_high": number(effect.high)}


# First that holds wins.
_NOTES: Final[Mapping[str, Callable[[Summary, Summary, Welch], bool]]] = {
    "no runs of the reference": lambda ours, _theirs, _test: ours.n == 0,
    "no runs of the baseline": lambda _ours, theirs, _test: theirs.n == 0,
    "fewer than two runs": lambda ours, theirs, _test: min(ours.n, theirs.n) < 2,
    "neither varies; t is infinite": lambda _ours, _theirs, test: math.isinf(test.t),
    "neither varies": lambda ours, theirs, _test: ours.std == 0 and theirs.std == 0,
}


def _note(ours: Summary, theirs: Summary, test: Welch) -> str | None:
    return next((note for note, holds in _NOTES.items() if holds(ours, theirs, test)), None)


def number(value: float) -> float | None:
    """The value, or None where it is not a finite number."""
    return value if math.isfinite(value) else None
