"""Curves of runs against what they have spent: the mean over runs, with a band around it."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from audit.measures.bootstrap import percentile_interval, resampled_sums

RESAMPLES: Final = 1999

Floats = NDArray[np.float64]


def mean_curve(iterations: pd.DataFrame, band: Literal["std", "bootstrap"] | str = "std") -> pd.DataFrame:
    """Mean curve of one method on one task.

    Between two of its iterations a run has the return of the earlier one, so that runs which spent their rollouts in
    different steps can be averaged; it has none before its first iteration or after its last.

    Args:
        iterations: one row per iteration of every run, with columns run, rollouts_spent and kept_return.
        band: what `low` and `high` are: the mean ± the sample standard deviation, or its 95% interval by bootstrap.

    Returns:
        One row per number of rollouts spent, in order, with columns rollouts_spent, mean, std (n - 1; NaN for one run),
        low and high (NaN for one run), runs (how many have a return there) and whole (whether that is all of them).
        Points without any return are left out.
    """
    spent = np.unique(iterations["rollouts_spent"].to_numpy(dtype=float))
    runs = {
        name: carried(run["rollouts_spent"], run["kept_return"], spent)
        for name, run in iterations.sort_values("rollouts_spent", kind="stable").groupby("run")
    }
    returns = pd.DataFrame(runs, index=spent.astype(int), dtype=float)
    returns = returns.where(np.isfinite(returns)).dropna(how="all")
    points = returns.agg(["mean", "std", "count"], axis=1).rename(columns={"count": "runs"}).astype({"runs": int})
    low, high = points["mean"] - points["std"], points["mean"] + points["std"]
    if band == "bootstrap":
        low, high = _bootstrap(returns.to_numpy().T)
    points = points.assign(low=low, high=high, whole=points["runs"] == len(runs))
    return points.rename_axis("rollouts_spent").reset_index()


def carried(spent: ArrayLike, values: ArrayLike, points: NDArray[np.int64] | Floats) -> Floats:
    """The values of one run after so many rollouts: the last one until then, NaN before it begins and after it ends.

    Args:
        spent: shape (iterations,), the rollouts spent up to and with each, in order.
        values: shape (iterations,).
        points: shape (points,), numbers of rollouts.
    """
    known, numbers = np.asarray(spent, dtype=float), np.asarray(values, dtype=float)
    places = np.searchsorted(known, points, side="right") - 1
    return np.where((places >= 0) & (points <= known[-1]), numbers[places], np.nan)


def _bootstrap(returns: Floats) -> Floats:
    """Interval of the mean at every point, runs drawn with replacement, all points of a run together: (2, points)."""
    present = np.isfinite(returns)
    runs, points = returns.shape
    ends = np.full((2, points), np.nan)
    if runs > 1 and points:
        sums = resampled_sums(np.hstack([np.where(present, returns, 0), present]), resamples=RESAMPLES)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = sums[:, :points] / sums[:, points:]
        for place in np.flatnonzero(present.sum(axis=0) > 1):
            ends[:, place] = percentile_interval(means[:, place])
    return ends
