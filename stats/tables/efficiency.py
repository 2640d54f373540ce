"""Sample-efficiency curves: interquartile mean of normalised scores against the rollouts that runs have spent.

Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice" (NeurIPS 2021), section 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from audit.measures.stratified import RESAMPLES, Estimate, stratified_bootstrap
from stats.measures.aggregates import interquartile_mean
from stats.measures.scores import Comparison
from stats.tables.curves import carried
from stats.tables.metrics import Row, number

EFFICIENCY_COLUMNS: Final = (
    *("condition", "variant", "metric", "tasks", "runs", "rollouts", "iqm", "low", "high", "note"),
)
CURVE_METRICS: Final = ("kept_return", "mean_return", "best_return")

_RUN: Final = ["condition", "env", "variant", "run"]


def so_far(iterations: pd.DataFrame, metric: str) -> pd.Series:
    """What a run would report after each iteration.

    Args:
        iterations: columns condition, env, variant, run, iteration and kept_return; each run's in order.
        metric: kept_return, the return of that iteration alone; mean_return or best_return, the mean or the largest of
            those up to there.

    Returns:
        One value per row. What is not finite counts for nothing and stays NaN.

    Raises:
        ValueError: there is no such metric.
    """
    if metric not in CURVE_METRICS:
        raise ValueError(f"no metric {metric!r}; metrics are {', '.join(CURVE_METRICS)}")
    kept = iterations["kept_return"].astype(float)
    kept = kept.where(np.isfinite(kept))
    runs = kept.groupby([iterations[column] for column in _RUN])
    if metric == "best_return":
        return runs.cummax()
    if metric == "mean_return":
        counted = kept.notna().astype(float).groupby([iterations[column] for column in _RUN]).cumsum()
        return runs.cumsum() / counted
    return kept


def budgets(longest: float, points: int) -> NDArray[np.int64]:
    """Numbers of rollouts at equal distances, the last being the largest that was spent."""
    return np.unique(np.ceil(np.arange(1, points + 1) * longest / points).astype(np.int64))


def efficiency(
    comparisons: Sequence[Comparison], metric: str, *, points: int = 20, resamples: int = RESAMPLES
) -> list[Row]:
    """Curves of every method over the tasks of its condition.

    Args:
        comparisons: as `scores.comparisons` makes them of iterations, with a column rollouts_spent: the rollouts
            of the run up to and with that iteration.
        metric: what the scores are made of.
        points: at how many numbers of rollouts the curves are found.
        resamples: of the bootstrap.

    Returns:
        One row per (condition, variant, rollouts), with the ends of the 95% interval in `low` and `high`. A run counts
        with its last iteration that is within that many rollouts, from its first iteration until it ends: nothing is
        carried on beyond. `runs` counts those that do, and `note` lists the others. Where no run of a task does, there
        is no mean over tasks, and where no run does at all, no row.
    """
    return [row for comparison in comparisons for row in _curves(comparison, metric, points, resamples)]


def _curves(comparison: Comparison, metric: str, points: int, resamples: int) -> Iterator[Row]:
    if not comparison.tasks:
        for method in comparison.methods:
            note = "; ".join([*comparison.remarks, "no task is left"])
            identity = {"condition": comparison.condition, "variant": method, "metric": metric}
            yield dict.fromkeys(EFFICIENCY_COLUMNS) | identity | {"tasks": 0, "runs": 0, "note": note}
        return
    spent = budgets(float(comparison.scores["rollouts_spent"].max()), points)
    for method in comparison.methods:
        mine = comparison.scores[comparison.scores["variant"] == method]
        tasks = [_reached(mine[mine["env"] == task], spent) for task in comparison.tasks]
        found = _points(tasks, resamples)
        counted = np.sum([np.isfinite(task).sum(axis=1) for task in tasks], axis=0)
        all_runs = sum(task.shape[1] for task in tasks)
        for place in np.flatnonzero(counted):
            row = {
                "condition": comparison.condition,
                "variant": method,
                "metric": metric,
                "tasks": len(tasks),
                "runs": int(counted[place]),
                "rollouts": int(spent[place]),
            }
            row |= dict(zip(("iqm", "low", "high"), (number(float(end[place])) for end in found), strict=True))
            yield row | {"note": _note(comparison, method, [task[place] for task in tasks], all_runs)}


def _reached(iterations: pd.DataFrame, spent: NDArray[np.int64]) -> NDArray[np.float64]:
    """Scores of each run after so many rollouts: shape (points, runs), NaN before it begins and after it ends."""
    runs = iterations.groupby("run")
    return np.stack([carried(run["rollouts_spent"], run["score"], spent) for _, run in runs], axis=1)


def _points(tasks: Sequence[NDArray[np.float64]], resamples: int) -> Estimate:
    """The curve, from one bootstrap for all points at which the same runs count."""
    present = [np.isfinite(task) for task in tasks]
    found = Estimate(*(np.full(len(tasks[0]), math.nan) for _ in Estimate._fields))
    _, groups = np.unique(np.concatenate(present, axis=1), axis=0, return_inverse=True)
    for group in range(int(groups.max()) + 1):
        here = np.flatnonzero(groups == group)
        kept = [task[here][:, runs[here[0]]] for task, runs in zip(tasks, present, strict=True)]
        if all(task.shape[1] for task in kept):
            for whole, part in zip(
                found, stratified_bootstrap(kept, interquartile_mean, resamples=resamples), strict=True
            ):
                whole[here] = part
    return found


def _note(comparison: Comparison, method: str, tasks: Sequence[NDArray[np.float64]], all_runs: int) -> str | None:
    parts = [*comparison.remarks, *comparison.note_missing(method)]
    counted = [int(np.isfinite(task).sum()) for task in tasks]
    if sum(counted) < all_runs:
        parts.append(f"{all_runs - sum(counted)} of {all_runs} runs are not here yet, or have ended")
    for runs, words in ((0, "no run"), (1, "a single run")):
        here = [task for task, count in zip(comparison.tasks, counted, strict=True) if count == runs]
        if here:
            parts.append(f"{words} on {', '.join(here)}")
    return "; ".join(parts) or None
