"""Welch's t-test and Holm's correction from printed numbers: all that t, its degrees of freedom and p can be.

The formulas are those of `measures.welch` and `measures.holm`. Every function returns intervals that hold the result
for each choice of unrounded inputs; they need not be the smallest such intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Final

from stats.published.intervals import EVERYTHING, INFINITY, PROBABILITY, ZERO, Interval, point
from stats.published.printed import Printed

SLACK: Final = 1e-9
"""Relative error granted to the distribution function of Student's t; SciPy's is below 1e-12."""
_EXACT: Final = Context(prec=60)
"""Digits enough for any printed p-value; computed ones come with slack."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What a printed mean, standard deviation and count allow a sample to be."""

    mean: Interval
    std: Interval
    n: int

    @property
    def variance_of_mean(self) -> Interval:
        """std^2 / n."""
        return self.std.square() / point(self.n)


def sample(mean: Printed, std: Printed, n: int) -> Sample:
    """A sample by its printed summary; no standard deviation is negative."""
    return Sample(mean.interval, std.limited(Interval(ZERO, INFINITY)), n)


def exact_sample(mean: Printed, std: Printed, n: int) -> Sample:
    """A sample of which the printed numbers are exact."""
    return Sample(point(mean.value), point(max(std.value, ZERO)), n)


def t_bounds(a: Sample, b: Sample) -> Interval:
    """Bounds of t = (mean_a - mean_b) / sqrt(std_a^2 / n_a + std_b^2 / n_b).

    t grows with the difference of means whatever the spread, and shrinks towards 0 as the spread grows; the two vary
    freely. So its largest value has the largest difference, with the least spread where that is positive and the
    greatest where it is negative. Without spread, t is 0 for equal means and infinite otherwise.
    """
    if min(a.n, b.n) < 2:
        return EVERYTHING
    return ratio_bounds(a.mean - b.mean, (a.variance_of_mean + b.variance_of_mean).root())


def ratio_bounds(gap: Interval, error: Interval) -> Interval:
    """Bounds of t, a difference of means over its standard error, which is not negative."""
    return Interval(_largest_t(-gap, error).copy_negate(), _largest_t(gap, error))


def _largest_t(gap: Interval, error: Interval) -> Decimal:
    if gap.high == 0:
        return ZERO
    spread = error.low if gap.high > 0 else error.high
    if spread == 0:
        return INFINITY.copy_sign(gap.high)
    return (point(gap.high) / point(spread)).high


def df_bounds(a: Sample, b: Sample) -> Interval:
    """Bounds of the Welch-Satterthwaite degrees of freedom.

    With u = std_a^2 / n_a, v = std_b^2 / n_b and the share r = u / (u + v), the formula is
    1 / df = r^2 / (n_a - 1) + (1 - r)^2 / (n_b - 1): a convex function of r alone. It is largest at an end of what r
    can be, and smallest at r = (n_a - 1) / (n_a + n_b - 2), where df = n_a + n_b - 2, or at the end next to it.

    Returns:
        All degrees of freedom that there are with such counts, min(n) - 1 to n_a + n_b - 2, where neither varies.

    Raises:
        ValueError: a count is below 2.
    """
    if min(a.n, b.n) < 2:
        raise ValueError("fewer than two values have no variance")
    u, v = a.variance_of_mean, b.variance_of_mean
    everything = Interval(Decimal(min(a.n, b.n) - 1), Decimal(a.n + b.n - 2))
    if u.high == 0 and v.high == 0:
        return everything
    # r grows with u and falls with v; a sample that cannot vary leaves the other all of the variance.
    low = _share(point(u.low), point(v.high)).low if v.high > 0 else _share(point(u.high), point(0)).low
    high = _share(point(u.high), point(v.low)).high if u.high > 0 else ZERO
    at_low, at_high = _df(point(low), a.n, b.n), _df(point(high), a.n, b.n)
    peak = point(a.n - 1) / point(a.n + b.n - 2)
    most = everything.high if peak.meets(Interval(low, high)) else max(at_low.high, at_high.high)
    found = Interval(min(at_low.low, at_high.low), most)
    return found & everything if found.meets(everything) else everything


def _share(u: Interval, v: Interval) -> Interval:
    return u / (u + v)


def _df(r: Interval, n_a: int, n_b: int) -> Interval:
    rest = point(1) - r
    return point(1) / (r.square() / point(n_a - 1) + rest.square() / point(n_b - 1))


def p_bounds(t: Interval, df: Interval) -> Interval:
    """Bounds of the two-sided p-value 2 P(T >= |t|).

    It falls with |t|; and at any |t| it falls with the degrees of freedom, Student's distribution having the lighter
    tails the more there are. So the ends are at opposite corners.
    """
    size = abs(t)
    low = _p(_above(size.high), _above(df.high)) * (1 - SLACK)
    high = _p(_below(size.low), _below(df.low)) * (1 + SLACK)
    # The smallest float represents all p-values too small to be one.
    return Interval(Decimal(low), Decimal(max(high, math.ulp(0.0)))) & PROBABILITY


def _p(size: float, df: float) -> float:
    from scipy.special import ndtr, stdtr

    if size == 0:
        return 1.0
    # Student's distribution becomes the normal one.
    tail = ndtr(-size) if math.isinf(df) else stdtr(df, -size)
    return 0.0 if math.isinf(size) else min(2 * float(tail), 1.0)


def _below(value: Decimal) -> float:
    return max(math.nextafter(float(value), -math.inf), 0.0)


def _above(value: Decimal) -> float:
    return math.nextafter(float(value), math.inf)


def holm_bounds(p_values: Sequence[Interval]) -> list[Interval]:
    """Bounds of the adjusted p-values of one family.

    Holm's procedure is the closed test of Bonferroni's: the adjusted p-value of a test is the largest |I| min(p_k, k in
    I), at most 1, over all sets I of tests that it belongs to (R. Marcus, E. Peritz and K. R. Gabriel, "On closed
    testing procedures with special reference to ordered analysis of variance", Biometrika 63, 1976). No such term
    falls when a p-value rises, so neither does their largest: the lower ends of all p-values give the lower ends of all
    results, and the upper ends the upper ends.

    Args:
        p_values: one interval within 0 to 1 for each test of the family, also for those of which nothing is known.
    """
    low, high = _holm([p.low for p in p_values]), _holm([p.high for p in p_values])
    return [Interval(*ends) for ends in zip(low, high, strict=True)]


def _holm(p_values: Sequence[Decimal]) -> list[Decimal]:
    # Written out although `measures.holm` has it: that one's library takes longer to load than all of this to run.
    adjusted = [Decimal(1)] * len(p_values)
    so_far = Decimal(0)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, test in enumerate(order):
        so_far = max(so_far, min(_EXACT.multiply(len(order) - rank, p_values[test]), Decimal(1)))
        adjusted[test] = so_far
    return adjusted
