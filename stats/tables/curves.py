"""Curves of runs against what they have spent: the mean over runs, with a band around it."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def mean_curve(iterations: pd.DataFrame) -> pd.DataFrame:
    """Mean curve of one method on one task.

    Between two of its iterations a run has the return of the earlier one, so that runs which spent their rollouts in
    different steps can be averaged; it has none before its first iteration or after its last.

    Args:
        iterations: one row per iteration of every run, with columns run, rollouts_spent and kept_return.

    Returns:
        One row per number of rollouts spent, in order, with columns rollouts_spent, mean, std (n - 1; NaN for one run),
        low and high (mean ± std), runs (how many have a return there) and whole (whether that is all of them).
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
