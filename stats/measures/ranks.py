"""Which method is first, and would it be with other runs, or on other tasks?

Every function takes the scores of several methods: for each method a sequence of arrays, one per task, of shape
(runs,). Rank 1 is the best. Scores that agree to twelve decimals are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from audit.measures.stratified import RESAMPLES, Estimate, replicates, stratified_bootstrap
from stats.measures.aggregates import interquartile_mean, task_means

DECIMALS = 12
"""Of scores, beyond which there is only rounding error."""

Methods = Sequence[Sequence[ArrayLike]]


def task_ranks(means: ArrayLike) -> NDArray[np.float64]:
    """Ranks of methods on each task; those that tie share the mean of their ranks.

    Args:
        means: shape (methods, ...), of which the largest is the best.
    """
    return np.asarray(rankdata(-np.round(np.asarray(means, dtype=float), DECIMALS), axis=0), dtype=float)


def mean_ranks(methods: Methods, *, resamples: int = RESAMPLES, level: float = 0.95, seed: int = 0) -> Estimate:
    """Rank of each method by its mean score on a task, averaged over tasks.

    Returns:
        Shape (methods,), with intervals by stratified bootstrap over the runs of all methods.
    """

    def average(samples: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        means = np.stack([task_means(mine) for mine in _by_method(samples, len(methods))])
        return np.asarray(task_ranks(means).mean(axis=1))

    return stratified_bootstrap(_flat(methods), average, resamples=resamples, level=level, seed=seed)


def rank_shares(methods: Methods, *, resamples: int = RESAMPLES, seed: int = 0) -> NDArray[np.float64] | None:
    """How often each method takes each rank by interquartile mean, over stratified bootstrap resamples.

    Returns:
        Shape (methods, ranks), of which rows and columns sum to 1: methods that tie share their ranks equally. None
        where some method has a single run on some task, and nothing can be resampled.
    """
    drawn = replicates(_flat(methods), _middles(len(methods)), resamples=resamples, seed=seed)
    if drawn is None:
        return None
    middles = -np.round(drawn, DECIMALS)
    first, last = (rankdata(middles, method=how, axis=0)[:, None, :] for how in ("min", "max"))
    ranks = np.arange(1, len(methods) + 1)[None, :, None]
    held = (first <= ranks) & (ranks <= last)
    return np.asarray((held / (last - first + 1)).mean(axis=-1))


def kendall_w(means: ArrayLike) -> float:
    """Kendall's coefficient of concordance: do tasks rank the methods alike? From 0, not at all, to 1, exactly.

    M. G. Kendall and B. Babington Smith, "The problem of m rankings", Annals of Mathematical Statistics 10 (1939), with
    the correction for ties: 12 S / (m^2 (n^3 - n) - m sum of (t^3 - t)), for m tasks and n methods, S the sum of
    squared deviations of the methods' sums of ranks, and t the sizes of groups of ties.

    Args:
        means: shape (methods, tasks).

    Returns:
        NaN for fewer than two tasks or methods, or where all methods tie on all tasks.
    """
    ranks = task_ranks(means)
    methods, tasks = ranks.shape
    if min(methods, tasks) < 2:
        return math.nan
    sums = ranks.sum(axis=1)
    ties = sum(
        float((sizes.astype(float) ** 3 - sizes).sum())
        for sizes in (np.unique(column, return_counts=True)[1] for column in ranks.T)
    )
    most = tasks**2 * (methods**3 - methods) - tasks * ties
    return float(12 * ((sums - sums.mean()) ** 2).sum() / most) if most else math.nan


def _middles(methods: int) -> Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]:
    return lambda samples: np.stack([interquartile_mean(mine) for mine in _by_method(samples, methods)])


def _flat(methods: Methods) -> list[ArrayLike]:
    return [task for tasks in methods for task in tasks]


def _by_method(samples: Sequence[NDArray[np.float64]], methods: int) -> list[Sequence[NDArray[np.float64]]]:
    tasks = len(samples) // methods
    return [samples[start : start + tasks] for start in range(0, len(samples), tasks)]
