"""Logistic regression of an outcome on one exposure, with errors that allow for dependence within clusters."""

from __future__ import annotations

import math
from typing import NamedTuple

from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from audit.measures.association import Ratio, checked_counts, odds_ratio


class RobustOdds(NamedTuple):
    """An odds ratio with its interval, and the p-value of the hypothesis that it is 1; NaN where they are not known."""

    odds_ratio: Ratio
    p: float


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
    counts = checked_counts(clusters)
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
