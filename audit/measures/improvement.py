"""Probability of improvement: how likely is a run of one method to beat a run of another?

Agarwal et al. (2021), section 4.3: the statistic of Mann and Whitney ("On a test of whether one of two random variables
is stochastically larger than the other", Annals of Mathematical Statistics 18, 1947) over the number of pairs, averaged
over tasks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.measures.stratified import RESAMPLES, Estimate, stratified_bootstrap


def chance_of_beating(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(X > Y) + P(X = Y) / 2 for a run of each, on one task.

    Args:
        ours: shape (..., n), scores X.
        theirs: shape (..., m), scores Y, with the same leading axes.

    Returns:
        Shape (...).
    """
    x, y = ours[..., :, None], theirs[..., None, :]
    return np.asarray(((x > y).mean(axis=(-2, -1)) + (x >= y).mean(axis=(-2, -1))) / 2)


def probability_of_improvement(
    ours: Sequence[ArrayLike],
    theirs: Sequence[ArrayLike],
    *,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Chance that a run of one method beats a run of another on the same task, averaged over tasks.

    Args:
        ours: for each task the scores of one method's runs, shape (runs,).
        theirs: those of the other, for the same tasks; runs are not paired.
        resamples: of the bootstrap, which draws the runs of both anew, within each task.
        level: of the interval.
        seed: of the bootstrap.

    Raises:
        ValueError: the methods have different numbers of tasks, or none.
    """
    tasks = len(ours)
    if not tasks or tasks != len(theirs):
        raise ValueError(f"{tasks} tasks of one method and {len(theirs)} of the other")

    def average(samples: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        pairs = zip(samples[:tasks], samples[tasks:], strict=True)
        return np.asarray(np.mean([chance_of_beating(x, y) for x, y in pairs], axis=0))

    pairs = max(np.size(x) * np.size(y) for x, y in zip(ours, theirs, strict=True))
    return stratified_bootstrap([*ours, *theirs], average, resamples=resamples, level=level, seed=seed, cost=int(pairs))
