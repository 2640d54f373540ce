"""The curve of a method on a task: mean over runs, and a band around it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from figures.options import Band
from stats.measures.bootstrap import percentile_interval, resampled_sums

RESAMPLES: Final = 1999


BANDS: Final = {
    Band.std: "± sample standard deviation",
    Band.bootstrap: "with 95% bootstrap interval of the mean",
}


def curve(iterations: pd.DataFrame, band: Band = Band.std) -> pd.DataFrame:
    """Mean curve of one method on one task.

    Between two of its iterations a run has the return of the earlier one, so that runs which spent their rollouts in
    different steps can be averaged; it has none before its first iteration or after its last.

    Args:
        iterations: one row per iteration of every run, with columns run, rollouts_spent and kept_return.
        band: what `low` and `high` are.

    Returns:
        One row per number of rollouts spent, in order, with columns rollouts_spent, mean, std (n - 1; NaN for one run),
        low and high (NaN for one run), runs (how many have a return there) and whole (whether that is all of them).
        Points without any return are left out.
    """
    spent = np.unique(iterations["rollouts_spent"].to_numpy(dtype=float))
    each = [_carried(run, spent) for _, run in iterations.groupby("run")]
    returns = np.array(each, dtype=float).reshape(len(each), len(spent))
    present = np.isfinite(returns)
    known = present.any(axis=0)
    spent, returns, present = spent[known], returns[:, known], present[:, known]
    runs = present.sum(axis=0)
    mean = np.where(present, returns, 0).sum(axis=0) / runs
    deviation = _deviation(returns, mean, runs)
    low, high = (mean - deviation, mean + deviation) if band is Band.std else _bootstrap(returns)
    return pd.DataFrame(
        {
            "rollouts_spent": spent.astype(int),
            "mean": mean,
            "std": deviation,
            "low": low,
            "high": high,
            "runs": runs,
            "whole": runs == len(returns),
        }
    )


def _carried(run: pd.DataFrame, spent: NDArray[np.float64]) -> NDArray[np.float64]:
    """The returns of one run at given numbers of rollouts, NaN outside of what it spent."""
    own = run.sort_values("rollouts_spent", kind="stable")
    at = own["rollouts_spent"].to_numpy(dtype=float)
    before = np.searchsorted(at, spent, side="right") - 1
    returns = own["kept_return"].to_numpy(dtype=float)[np.maximum(before, 0)]
    return np.where((before >= 0) & (spent <= at[-1]), returns, np.nan)


def _deviation(returns: NDArray[np.float64], mean: NDArray[np.float64], runs: NDArray[Any]) -> NDArray[np.float64]:
    squares = np.nansum((returns - mean) ** 2, axis=0)
    return np.sqrt(np.where(runs > 1, squares / np.maximum(runs - 1, 1), np.nan))


def _bootstrap(returns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Interval of the mean at every point, runs drawn with replacement, all points of a run together."""
    present = np.isfinite(returns)
    points = returns.shape[1]
    if len(returns) < 2 or not points:
        return np.full(points, np.nan), np.full(points, np.nan)
    sums = resampled_sums(np.hstack([np.where(present, returns, 0), present]), resamples=RESAMPLES)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums[:, :points] / sums[:, points:]
    enough = present.sum(axis=0) > 1
    ends = [percentile_interval(means[:, i]) if enough[i] else (np.nan, np.nan) for i in range(points)]
    low, high = np.array(ends, dtype=float).T
    return low, high
