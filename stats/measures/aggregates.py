"""One number for a method over several tasks, from the normalised scores of its runs.

Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice" (NeurIPS 2021), section 4.3.
Every function takes the scores of one method: a sequence of arrays, one per task, of shape (..., runs on that task),
with the same leading axes, which stay. Tasks weigh alike, however many runs each has; for equally many runs the
functions are those of the paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import trim_mean

Scores = NDArray[np.float64]


def interquartile_mean(tasks: Sequence[Scores]) -> Scores:
    """Mean of the middle half of all scores, whatever task they are from.

    With N scores, floor(N / 4) are cut off at either end, as `scipy.stats.trim_mean` does. Where tasks differ in their
    number of runs, the result is what it would be if each task's scores were repeated until all had equally many.
    """
    sizes = [task.shape[-1] for task in tasks]
    scores = np.concatenate(tasks, axis=-1)
    if len(set(sizes)) == 1:
        return np.asarray(trim_mean(scores, 0.25, axis=-1))
    weights = np.repeat([1 / size for size in sizes], sizes)
    repeated = math.lcm(*sizes)
    whole, cut = len(sizes), (len(sizes) * repeated // 4) / repeated
    order = np.argsort(scores, axis=-1)
    weight = weights[order]
    reached = np.cumsum(weight, axis=-1)
    kept = np.clip(reached, cut, whole - cut) - np.clip(reached - weight, cut, whole - cut)
    return np.asarray((np.take_along_axis(scores, order, axis=-1) * kept).sum(axis=-1) / (whole - 2 * cut))


def task_means(tasks: Sequence[Scores]) -> Scores:
    """Mean over runs: shape (tasks, ...)."""
    return np.stack([task.mean(axis=-1) for task in tasks])


def mean_score(tasks: Sequence[Scores]) -> Scores:
    """Mean over tasks of the means over runs."""
    return np.asarray(task_means(tasks).mean(axis=0))


def median_score(tasks: Sequence[Scores]) -> Scores:
    """Median over tasks of the means over runs."""
    return np.asarray(np.median(task_means(tasks), axis=0))


def optimality_gap(tasks: Sequence[Scores], target: float = 1.0) -> Scores:
    """How far scores fall short of the target on average; a surplus does not compensate."""
    return target - mean_score([np.minimum(task, target) for task in tasks])


def shares_above(tasks: Sequence[Scores], thresholds: Scores) -> Scores:
    """Performance profile: the share of runs whose score exceeds a threshold, averaged over tasks.

    Args:
        tasks: as everywhere here.
        thresholds: shape (thresholds,).

    Returns:
        Shape (thresholds, ...).
    """
    return np.stack([mean_score([(task > threshold).astype(float) for task in tasks]) for threshold in thresholds])
