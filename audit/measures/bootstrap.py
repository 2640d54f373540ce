"""Percentile intervals by resampling clusters, for observations that are not independent within a cluster.

A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their Application" (1997), sections 3.8 and 5.3. Clusters are
drawn with replacement, and all observations of a cluster go together. With few clusters such intervals are too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_UNDEFINED: Final = 0.05
"""Share of replicates without a value beyond which there is no interval."""

_AT_ONCE: Final = 4_000_000
"""Draws of a cluster that are held in memory at once."""


class Interval(NamedTuple):
    """A confidence interval; NaN where it is unknown, infinite where it has no bound."""

    low: float
    high: float


UNKNOWN: Final = Interval(math.nan, math.nan)


def cluster_bootstrap(
    counts: NDArray[Any],
    statistic: Callable[[NDArray[np.float64]], NDArray[Any]],
    *,
    resamples: int = 9999,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Find a percentile interval for a statistic of counts that are summed over clusters.

    Args:
        counts: shape (clusters, cells); what was counted, or added up, in each cluster. No NaN.
        statistic: takes sums over drawn clusters, shape (resamples, cells), and gives one value each, shape
            (resamples,), NaN where undefined. Infinite values are ordered as such. NumPy's warnings about divisions
            by zero are off while it is called.
        resamples: how often clusters are drawn.
        level: coverage that is aimed at.
        seed: of the draws. The same counts, in whatever order of clusters, give the same interval.

    Returns:
        NaN for fewer than two clusters, or where more than a twentieth of the replicates are undefined; those that
        are, are left out.

    Raises:
        ValueError: an argument has the wrong shape or makes no sense.
    """
    if np.shape(counts)[:1] in {(0,), (1,)}:
        return UNKNOWN
    sums = resampled_sums(counts, resamples=resamples, seed=seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = statistic(sums)
    return percentile_interval(values, level=level)


def ratio_interval(parts: ArrayLike, wholes: ArrayLike, clusters: ArrayLike, **options: Any) -> Interval:
    """Find a percentile interval for a ratio of two sums over observations, such as a share or a mean.

    Args:
        parts: shape (observations,), what is added up above the line.
        wholes: shape (observations,), what is added up below it: one for each observation that counts, else zero.
        clusters: shape (observations,), which cluster each observation is of.
        options: those of `cluster_bootstrap`.

    Returns:
        As `cluster_bootstrap`. A cluster in which nothing counts is drawn like the others.

    Raises:
        ValueError: lengths differ, or as `cluster_bootstrap` raises it.
    """
    places = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sums = [np.bincount(places, weights=np.asarray(each, dtype=float)) for each in (parts, wholes)]
    return cluster_bootstrap(np.stack(sums, axis=1), lambda drawn: drawn[:, 0] / drawn[:, 1], **options)


def resampled_sums(counts: NDArray[Any], *, resamples: int = 9999, seed: int = 0) -> NDArray[np.float64]:
    """Draw as many clusters as there are, with replacement, and add up their counts: shape (resamples, cells).

    Args:
        counts: shape (clusters, cells).
        resamples: how often clusters are drawn.
        seed: of the draws.

    Raises:
        ValueError: the counts have another number of axes, no cluster, or something that is no finite number.
    """
    table = np.asarray(counts, dtype=float)
    if table.ndim != 2 or not len(table):
        raise ValueError(f"expected counts of shape (clusters, cells), got {table.shape}")
    if resamples < 1:
        raise ValueError(f"expected at least one resample, not {resamples}")
    if not np.isfinite(table).all():
        raise ValueError("a count is not a finite number")
    # Sorted, so that the order in which clusters are given does not matter.
    table = table[np.lexsort(table.T[::-1])] if table.shape[1] else table
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    clusters = len(table)
    sums = np.empty((resamples, table.shape[1]))
    rows = max(1, _AT_ONCE // clusters)
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        sums[start:stop] = _weights(generator, stop - start, clusters) @ table
    return sums


def percentile_interval(values: NDArray[Any], *, level: float = 0.95) -> Interval:
    """The central part of some replicates: of n values in order, the k-th from either end, k = (n + 1)(1 - level) / 2.

    Args:
        values: shape (resamples,). NaN is left out, and more than a twentieth of it makes the interval unknown.
            Values are taken from the sample and not interpolated, so that an end may be infinite.
        level: share of replicates in between.

    Raises:
        ValueError: the level is not between 0 and 1, or `values` has not one axis.
    """
    if not 0 < level < 1:
        raise ValueError(f"the level must lie between 0 and 1, not {level}")
    replicates = np.asarray(values, dtype=float)
    if replicates.ndim != 1:
        raise ValueError(f"expected one value per resample, got an array of shape {replicates.shape}")
    defined = np.sort(replicates[~np.isnan(replicates)])
    if not defined.size or replicates.size - defined.size > MOST_UNDEFINED * replicates.size:
        return UNKNOWN
    # Half a unit in the last place must not cost a rank: 10,000 times 0.025 is 250.
    rank = max(1, math.floor((defined.size + 1) * (1 - level) / 2 + 1e-9))
    return Interval(float(defined[rank - 1]), float(defined[-rank]))


def _weights(generator: np.random.Generator, resamples: int, clusters: int) -> NDArray[np.float64]:
    """How often each cluster is drawn: multinomial, shape (resamples, clusters)."""
    drawn = generator.integers(clusters, size=(resamples, clusters))
    drawn += clusters * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * clusters).reshape(resamples, clusters).astype(float)
