"""Welch's t-test: do two methods differ in mean, when their runs need not spread alike?

B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved",
Biometrika 34 (1947). The tests are two-sided; a positive t means that the first sample has the larger mean.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numpy.typing import ArrayLike
from scipy.special import stdtrit
from scipy.stats import ttest_ind_from_stats

from audit.measures.bootstrap import UNKNOWN, Interval
from audit.measures.summary import Summary, same, summarise


class Welch(NamedTuple):
    """Statistic, degrees of freedom and two-sided p-value; NaN where there is no such number."""

    t: float
    df: float
    p: float


def welch(a: ArrayLike, b: ArrayLike) -> Welch:
    """Test two samples of runs for equal means.

    Args:
        a: shape (n_a,), one value per run; what is not finite is left out.
        b: shape (n_b,), likewise. The two need not be of one length: runs are not paired.

    Returns:
        As `welch_from_summaries`. Going through summaries keeps constant samples, which saturated tasks produce all
        the time, free of SciPy's warnings about lost precision and of the t-values those warnings are about.
    """
    return welch_from_summaries(summarise(a), summarise(b))


def welch_from_summaries(a: Summary, b: Summary) -> Welch:
    """Test two samples for equal means, knowing only mean, standard deviation and size, as papers print them.

    Returns:
        All NaN where a sample has fewer than two values, and so no variance. Where neither sample varies, t and p are
        the limits of the formula (0 and 1 for equal means, else infinite and 0) and the degrees of freedom are NaN.
    """
    if min(a.n, b.n) < 2:
        return Welch(math.nan, math.nan, math.nan)
    if a.std == 0 and b.std == 0:
        return Welch(0.0, math.nan, 1.0) if same(a.mean, b.mean) else Welch(_signed_infinity(a, b), math.nan, 0.0)
    result = ttest_ind_from_stats(*a, *b, equal_var=False)
    return Welch(float(result.statistic), satterthwaite(a, b), float(result.pvalue))


def welch_interval(a: Summary, b: Summary, *, level: float = 0.95) -> Interval:
    """The interval of the difference of two means that belongs to the test: those that it would not reject.

    Args:
        a: of the first sample.
        b: of the second.
        level: coverage that is aimed at.

    Returns:
        NaN where a sample has fewer than two values, or neither varies.
    """
    if min(a.n, b.n) < 2 or a.std == b.std == 0:
        return UNKNOWN
    reach = float(stdtrit(satterthwaite(a, b), (1 + level) / 2)) * math.hypot(a.standard_error, b.standard_error)
    return Interval(a.mean - b.mean - reach, a.mean - b.mean + reach)


def satterthwaite(a: Summary, b: Summary) -> float:
    """Degrees of freedom of Welch's t: (u + v)^2 / (u^2 / (n_a - 1) + v^2 / (n_b - 1)) with u, v = std^2 / n.

    Raises:
        ZeroDivisionError: neither sample varies, or one has a single value.
    """
    u, v = a.std**2 / a.n, b.std**2 / b.n
    return (u + v) ** 2 / (u**2 / (a.n - 1) + v**2 / (b.n - 1))


def _signed_infinity(a: Summary, b: Summary) -> float:
    return math.copysign(math.inf, a.mean - b.mean)
