"""Does an outcome occur more often where something was present? Ratios of two rates, over clusters of observations.

Observations of one cluster (revisions of one run) are not independent, so intervals resample whole clusters. A second
opinion is that of `audit.measures.logistic`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.measures.bootstrap import cluster_bootstrap


class Ratio(NamedTuple):
    """A ratio with the ends of its interval. NaN where it is not defined, infinite where only the denominator is 0."""

    value: float
    low: float
    high: float


class Association(NamedTuple):
    """Risk ratio and odds ratio, with intervals by cluster bootstrap."""

    risk_ratio: Ratio
    odds_ratio: Ratio


def risk_ratio(counts: ArrayLike) -> NDArray[np.float64]:
    """Risk of the outcome with the exposure, divided by the risk without.

    Args:
        counts: shape (..., 4): exposed with the outcome, unexposed with it, exposed without it, unexposed without it.

    Returns:
        Shape (...): NaN where none are exposed, none unexposed, or the outcome never occurs; infinite where it
        occurs among the exposed only.
    """
    a, b, c, d = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((a / (a + c)) / (b / (b + d)), dtype=float)


def odds_ratio(counts: ArrayLike) -> NDArray[np.float64]:
    """Odds of the outcome with the exposure, divided by the odds without: a d / (b c).

    Args:
        counts: as `risk_ratio` has them.

    Returns:
        Shape (...): NaN where numerator and denominator are 0; infinite where only the denominator is.
    """
    a, b, c, d = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((a * d) / (b * c), dtype=float)


def associate(clusters: ArrayLike, *, resamples: int = 9999, level: float = 0.95, seed: int = 0) -> Association:
    """Compare the risk of an outcome with an exposure with that without.

    Args:
        clusters: shape (clusters, 4): the counts of `risk_ratio` for each cluster.
        resamples: of the bootstrap.
        level: of the intervals.
        seed: of the bootstrap.

    Returns:
        The ratios of the summed counts. Intervals are NaN where they cannot be known: fewer than two clusters, or a
        ratio that too many resamples leave undefined.

    Raises:
        ValueError: `clusters` has another shape, or holds a negative number.
    """
    counts = checked_counts(clusters)
    total = counts.sum(axis=0)
    return Association(
        *(
            Ratio(float(ratio(total)), *cluster_bootstrap(counts, ratio, resamples=resamples, level=level, seed=seed))
            for ratio in (risk_ratio, odds_ratio)
        )
    )


def checked_counts(clusters: ArrayLike) -> NDArray[np.float64]:
    """The counts of clusters as an array.

    Raises:
        ValueError: it has another shape than (clusters, 4), or holds a negative number.
    """
    counts = np.asarray(clusters, dtype=float)
    if counts.ndim != 2 or counts.shape[1] != 4:
        raise ValueError(f"expected four counts for each cluster, got an array of shape {counts.shape}")
    if np.any(counts < 0):
        raise ValueError("a count is negative")
    return counts
