"""Standardised mean differences: by how many standard deviations do two methods differ?

L. V. Hedges, "Distribution theory for Glass's estimator of effect size and related estimators", Journal of Educational
Statistics 6 (1981). J. H. Steiger and R. T. Fouladi, "Noncentrality interval estimation and the evaluation of
statistical models" (1997), for the interval.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import chdtri, nctdtr, ndtri

from audit.measures.summary import Summary, same, summarise

_FAR: Final = 1000.0
"""A t beyond which the noise of the means is nothing beside that of the deviation, and SciPy's nctdtr fails."""


class Effect(NamedTuple):
    """A standardised mean difference and the ends of its interval; NaN where there is no such number."""

    value: float
    low: float
    high: float


def hedges_g(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Effect:
    """Hedges' g of two samples of runs; positive where the first has the larger mean.

    Args:
        a: shape (n_a,), one value per run; what is not finite is left out.
        b: shape (n_b,), likewise.
        level: coverage that is aimed at.

    Returns:
        As `hedges_g_from_summaries`.
    """
    return hedges_g_from_summaries(summarise(a), summarise(b), level=level)


def hedges_g_from_summaries(a: Summary, b: Summary, *, level: float = 0.95) -> Effect:
    """Hedges' g of two samples that are known by mean, standard deviation and size, as papers print them.

    The difference of means over the pooled standard deviation, times `small_sample_correction`. The interval is that of
    the difference in the population, found from the noncentral t distribution: exact for normal samples of one
    variance, and not corrected, since it needs no correction to hold what it should.

    Args:
        a: of the first sample.
        b: of the second.
        level: coverage that is aimed at.

    Returns:
        All NaN where a sample has fewer than two values. Where neither sample varies there is no interval, and the
        value is the limit of the formula: 0 for equal means, else infinite.

    Raises:
        ValueError: the level is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"the level must lie between 0 and 1, not {level}")
    if min(a.n, b.n) < 2:
        return Effect(math.nan, math.nan, math.nan)
    if a.std == 0 and b.std == 0:
        value = 0.0 if same(a.mean, b.mean) else math.copysign(math.inf, a.mean - b.mean)
        return Effect(value, math.nan, math.nan)
    df = a.n + b.n - 2
    pooled = math.sqrt(((a.n - 1) * a.std**2 + (b.n - 1) * b.std**2) / df)
    difference = (a.mean - b.mean) / pooled
    scale = math.sqrt(a.n * b.n / (a.n + b.n))
    low, high = noncentrality_interval(difference * scale, df, level=level)
    return Effect(difference * small_sample_correction(df), low / scale, high / scale)


def small_sample_correction(df: float) -> float:
    """What an observed standardised difference is multiplied by to be free of bias: Hedges' J, by gamma functions.

    J = gamma(df / 2) / (sqrt(df / 2) gamma((df - 1) / 2)), about 1 - 3 / (4 df - 1).

    Raises:
        ValueError: fewer than two degrees of freedom.
    """
    if df < 2:
        raise ValueError(f"the correction needs two degrees of freedom, not {df}")
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def noncentrality_interval(t: float, df: float, *, level: float = 0.95) -> tuple[float, float]:
    """The noncentralities under which a t as observed is neither too large nor too small.

    Args:
        t: observed statistic of the t-test with pooled variance.
        df: its degrees of freedom.
        level: coverage of the interval; both tails are equally likely.
    """
    tail = (1 - level) / 2
    low, high = (_noncentrality(abs(t), df, chance) for chance in (1 - tail, tail))
    return (low, high) if t >= 0 else (-high, -low)


def _noncentrality(t: float, df: float, chance: float) -> float:
    """The noncentrality under which a statistic up to t has this chance, for t >= 0."""
    if t > _FAR:
        # t = (z + noncentrality) / s with s^2 = chi^2 / df: far out, z may be left away.
        return t * math.sqrt(float(chdtri(df, chance)) / df)

    def excess(noncentrality: float) -> float:
        return float(nctdtr(df, noncentrality, t)) - chance

    # P(T <= t) >= P(T <= 0) = P(Z <= -noncentrality) for t >= 0: nothing is to be found below, where nctdtr may be NaN.
    lowest = -float(ndtri(chance)) - 1
    reach = 5 * math.sqrt(1 + t * t / (2 * df))
    # The chance falls as the noncentrality grows.
    while excess(max(lowest, t - reach)) < 0 or excess(t + reach) > 0:
        reach *= 2
    return float(brentq(excess, max(lowest, t - reach), t + reach, xtol=1e-12, rtol=1e-12))
