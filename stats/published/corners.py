"""Welch's test of printed summaries: what t, its degrees of freedom and p can be, by the corners of what is printed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import t as student
from scipy.stats import ttest_ind_from_stats

from audit.measures.summary import Summary
from audit.measures.welch import welch_from_summaries
from stats.published.printed import Printed, Range

ANYTHING: Final = Range(-math.inf, math.inf)
PROBABILITY: Final = Range(0.0, 1.0)
GRID: Final = 9
"""Number of values that are tried of each standard deviation, ends included."""


class Sample(NamedTuple):
    """What a printed mean, standard deviation and count allow a sample to be."""

    mean: Range
    std: Range
    n: int

    def scaled(self, factor: float) -> Sample:
        """The sample with another multiple of its spread as its standard deviation."""
        return self._replace(std=Range(factor * self.std.low, factor * self.std.high))


class Found(NamedTuple):
    """What a test's quantities can be; anything, where nothing is printed."""

    gap: Range = ANYTHING
    welch_t: Range = ANYTHING
    df: Range = ANYTHING
    raw_p: Range = PROBABILITY
    holm_p: Range = PROBABILITY


def welch_range(a: Sample, b: Sample) -> Found:
    """What Welch's test of two samples can find.

    The difference of means and t are largest and smallest at corners of the printed means and deviations: t grows with
    the difference, and shrinks towards 0 with either deviation. The reciprocal of the degrees of freedom is a convex
    function of the first sample's share of the variance alone. They are smallest at a corner, and largest there or at
    the share at which they are n_a + n_b - 2. Of p, deviations between the corners are tried too.
    """
    gap = Range(a.mean.low - b.mean.high, a.mean.high - b.mean.low)
    if min(a.n, b.n) < 2:
        return Found(gap)
    tests = [welch_from_summaries(*pair) for pair in _corners(a, b)]
    dfs = [test.df for test in tests if not math.isnan(test.df)] or [min(a.n, b.n) - 1]
    u, v = ([std**2 / each.n for std in each.std] for each in (a, b))
    if u[0] * (b.n - 1) <= v[1] * (a.n - 1) and v[0] * (a.n - 1) <= u[1] * (b.n - 1):
        dfs.append(a.n + b.n - 2)
    t, df = _hull(test.t for test in tests), _hull(dfs)
    return Found(gap, t, df, _p_of(a, b) if a.std.low or b.std.low else p_range(t, df))


def _p_of(a: Sample, b: Sample) -> Range:
    """The extreme p-values over the means' corners and a grid of deviations, since p may turn between their corners."""
    stds = (np.linspace(*each.std, GRID) for each in (a, b))
    x, s, y, u = np.meshgrid(a.mean, next(stds), b.mean, next(stds))
    p = np.asarray(ttest_ind_from_stats(x, s, a.n, y, u, b.n, equal_var=False).pvalue)
    is_either = a.mean.low <= b.mean.high and b.mean.low <= a.mean.high
    return Range(float(p.min()), 1.0 if is_either else float(p.max()))


def common(one: Range, other: Range) -> Range:
    """What both allow; the other alone, where they contradict."""
    return Range(max(one.low, other.low), min(one.high, other.high)) if one.meets(other) else other


def p_range(t: Range, df: Range) -> Range:
    """What a two-sided p-value can be.

    It falls with |t|, and with the degrees of freedom at any |t|. So its ends are at opposite corners of the two.
    """
    if df.low <= 0:
        return PROBABILITY
    near = 0.0 if t.low <= 0 <= t.high else min(map(abs, t))
    return Range(*(float(2 * student.sf(size, ends)) for size, ends in ((max(map(abs, t)), df.high), (near, df.low))))


def narrowed(found: Range, published: Printed | None) -> Range:
    """What is possible both by recomputing and by what is printed; the former, where they contradict."""
    if published is None or not published.range.meets(found):
        return found
    ends = sorted((max(published.range.low, found.low), min(published.range.high, found.high)))
    return Range(*ends)


def mistakes(
    quantity: str, printed: Mapping[str, Printed], samples: tuple[Sample, Sample] | None, found: Range
) -> Iterator[str]:
    """Mistakes that would explain a number which does not follow from the others; several may.

    Args:
        quantity: a field of `Found`.
        printed: it and the others, as printed.
        samples: the two methods' summaries, where they are printed.
        found: what the quantity can be if nothing was mistaken.
    """
    number = printed[quantity].range
    if quantity == "raw_p":
        half = Range(found.low / 2, found.high / 2)
        if number.meets(half) or number.meets(Range(1 - half.high, 1 - half.low)):
            yield "a one-sided test"
    if quantity == "holm_p" and number.low > found.high:
        yield "a family of more tests than are here"
    if samples is None or min(sample.n for sample in samples) < 2:
        return
    a, b = samples
    if _gives(_students(a, b), quantity, printed):
        yield "Student's test, which takes variances to be equal"
    roots = [(math.sqrt(a.n), math.sqrt(b.n)), (1 / math.sqrt(a.n), 1 / math.sqrt(b.n))]
    if any(_gives(welch_range(a.scaled(x), b.scaled(y)), quantity, printed) for x, y in roots):
        yield "a mix-up of standard errors and deviations"


def _gives(test: Found, quantity: str, printed: Mapping[str, Printed]) -> bool:
    """Whether a test prints so; one that leaves everything open does not."""
    t = printed.get("welch_t")
    if quantity == "gap" or (t is not None and not t.range.meets(test.welch_t)):
        return False
    test = test._replace(raw_p=common(test.raw_p, p_range(narrowed(test.welch_t, t), test.df)))
    gives: Range = getattr(test, quantity)
    return gives not in (ANYTHING, PROBABILITY) and printed[quantity].range.meets(gives)


def _students(a: Sample, b: Sample) -> Found:
    df = Range(a.n + b.n - 2, a.n + b.n - 2)
    if a.std.low == b.std.low == 0:
        return Found(df=df)
    return Found(welch_t=_hull(float(ttest_ind_from_stats(*x, *y).statistic) for x, y in _corners(a, b)), df=df)


def _corners(a: Sample, b: Sample) -> list[tuple[Summary, Summary]]:
    return [(Summary(x, s, a.n), Summary(y, u, b.n)) for x, s, y, u in itertools.product(a.mean, a.std, b.mean, b.std)]


def _hull(values: Iterable[float]) -> Range:
    known = list(values)
    return Range(min(known), max(known))
