"""Does an outcome occur more often where something was present? Ratios of two rates, over clusters of observations.

Observations of one cluster (revisions of one run) are not independent, so intervals resample whole clusters. A second
opinion is a logistic regression with errors that allow for dependence within clusters.
"""

from __future__ import annotations

import math
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


class RobustOdds(NamedTuple):
    """An odds ratio with its interval, and the p-value of the hypothesis that it is 1; NaN where they are not known."""

    odds_ratio: Ratio
    p: float


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
    counts = _checked(clusters)
    total = counts.sum(axis=0)
    return Association(
        *(
            Ratio(float(ratio(total)), *cluster_bootstrap(counts, ratio, resamples=resamples, level=level, seed=seed))
            for ratio in (risk_ratio, odds_ratio)
        )
    )


def robust_odds(clusters: ArrayLike, *, level: float = 0.95) -> RobustOdds:
    """The odds ratio of an outcome with an exposure against without.

    With one binary regressor the maximum likelihood estimate is the empirical odds ratio, and the sandwich estimator
    of the variance of its logarithm is a sum over clusters of squared scores (Liang and Zeger, Biometrika 73, 1986),
    here times G/(G - 1) (N - 1)/(N - 2) and with Student's t on G - 1 degrees of freedom, as is usual for G clusters.

    Args:
        clusters: shape (clusters, 4): exposed with the outcome, unexposed with it, exposed without it, unexposed
            without it.
        level: of the interval.

    Raises:
        ValueError: `clusters` has another shape, or holds a negative number.
    """
    from scipy.special import stdtr, stdtrit

    counts = _checked(clusters)
    a, b, c, d = total = counts.sum(axis=0)
    value = float(odds_ratio(total))
    groups, size = len(counts), float(total.sum())
    if groups < 2 or not total.all():
        return RobustOdds(Ratio(value, math.nan, math.nan), math.nan)
    exposed, unexposed = a + c, b + d
    scores = (counts[:, 0] - (counts[:, 0] + counts[:, 2]) * a / exposed) / (a * c / exposed)
    scores -= (counts[:, 1] - (counts[:, 1] + counts[:, 3]) * b / unexposed) / (b * d / unexposed)
    error = math.sqrt(float(scores @ scores) * groups / (groups - 1) * (size - 1) / (size - 2))
    if error == 0:
        return RobustOdds(Ratio(value, math.nan, math.nan), math.nan)
    reach = float(stdtrit(groups - 1, (1 + level) / 2)) * error
    p = 2 * float(stdtr(groups - 1, -abs(math.log(value)) / error))
    return RobustOdds(Ratio(value, value * math.exp(-reach), value * math.exp(reach)), p)


def _checked(clusters: ArrayLike) -> NDArray[np.float64]:
    counts = np.asarray(clusters, dtype=float)
    if counts.ndim != 2 or counts.shape[1] != 4:
        raise ValueError(f"expected four counts for each cluster, got an array of shape {counts.shape}")
    if np.any(counts < 0):
        raise ValueError("a count is negative")
    return counts
