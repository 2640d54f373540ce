"""Means over the units of a suite, with intervals: each unit is a cluster of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

import numpy as np
from scipy.stats import beta
from scipy.stats import t as student

Kind = Literal["share", "mean"]
LEVEL: Final = 0.95


class Estimate(NamedTuple):
    """A mean of unit means; NaN where it is not known.

    Attributes:
        value: the mean.
        low: end of its 95% interval.
        high: the other end.
        without_low: the smallest mean without any one task.
        without_high: the largest.
        units: how many count.
        answers: how many of theirs count.
    """

    value: float
    low: float
    high: float
    without_low: float
    without_high: float
    units: int
    answers: int


def estimate(values: Mapping[int, tuple[str, float, int]], kind: Kind) -> Estimate:
    """Estimate a mean from the means of units.

    Args:
        values: by unit its task, its mean, and of how many answers.
        kind: a `share` is between 0 and 1; its interval is that of Clopper and Pearson with the effective number of
            answers that the variance between units leaves (E. L. Korn and B. I. Graubard, "Confidence intervals for
            proportions with small expected number of positive counts estimated from survey data", Survey Methodology
            24, 1998). Of a `mean` it is Student's.
    """
    means = np.array([mean for _, mean, _ in values.values()])
    answers = sum(number for _, _, number in values.values())
    count = len(means)
    if not count:
        return Estimate(math.nan, math.nan, math.nan, math.nan, math.nan, 0, 0)
    value = float(means.mean())
    error = float(means.std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan
    low, high = _share_ends(value, error, count, answers) if kind == "share" else _ends(value, error, count)
    without = [
        float(np.mean([mean for env, mean, _ in values.values() if env != left]))
        for left in sorted({env for env, _, _ in values.values()})
        if any(env != left for env, _, _ in values.values())
    ]
    return Estimate(value, low, high, min(without, default=math.nan), max(without, default=math.nan), count, answers)


def _ends(value: float, error: float, count: int) -> tuple[float, float]:
    if math.isnan(error):
        return math.nan, math.nan
    reach = float(student.ppf((1 + LEVEL) / 2, count - 1)) * error
    return value - reach, value + reach


def _share_ends(value: float, error: float, units: int, answers: int) -> tuple[float, float]:
    """Units that are all alike, at 0 or 1, count once each; no number of answers makes more of them."""
    effective = float(units)
    if error > 0:
        shrink = (float(student.ppf((1 + LEVEL) / 2, units - 1)) / float(student.ppf((1 + LEVEL) / 2, 1e9))) ** 2
        effective = min(float(answers), value * (1 - value) / error**2) / shrink
    hits = value * effective
    low = float(beta.ppf((1 - LEVEL) / 2, hits, effective - hits + 1)) if hits > 0 else 0.0
    high = float(beta.ppf((1 + LEVEL) / 2, hits + 1, effective - hits)) if hits < effective else 1.0
    return low, high
