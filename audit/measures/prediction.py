"""Is a value above what a population that was sampled would give?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr


def prediction_p(value: float, sample: ArrayLike) -> float:
    """The p-value of the hypothesis that a value is one more draw from the normal population of a sample, one-sided.

    It is at most α where the value is above the sample's one-sided prediction limit of level 1 - α: the mean plus
    t(k - 1) sqrt(1 + 1/k) standard deviations of k values (G. J. Hahn, "Factors for calculating two-sided prediction
    intervals for samples from a normal distribution", Journal of the American Statistical Association 64, 1969).

    Args:
        value: which may be larger than the population's.
        sample: shape (k,).

    Returns:
        NaN where the value is NaN, or fewer than two values of the sample are known.
    """
    known = np.asarray(sample, dtype=float)
    known = known[np.isfinite(known)]
    if math.isnan(value) or known.size < 2:
        return math.nan
    above = value - float(known.mean())
    error = float(known.std(ddof=1)) * math.sqrt(1 + 1 / known.size)
    if not error:
        return float(above <= 0)
    return float(stdtr(known.size - 1, -above / error))
