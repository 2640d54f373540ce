"""Does a recomputed number agree with the published one?

Three verdicts. `same`: it prints as the published one does, digit for digit. `compatible`: it does not, but the
difference is within what runs differ by (a two-sided t-test at 0.05). `differs`: it is not. No verdict (None) where
there is nothing to judge by: fewer than two runs, or runs that do not vary and a published number without a spread.

A printed number represents all that round to it: the nearest is taken, and of a printed spread the largest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from scipy.stats import t as student

from audit.measures.summary import Summary, same
from stats.published.printed import Printed

Verdict = Literal["same", "compatible", "differs"]
ALPHA: Final = 0.05


class Part(NamedTuple):
    """One sample's share in the variance of a difference: the squared standard error, and its degrees of freedom."""

    variance: float
    df: float


def prints_as(value: float, number: Printed) -> bool:
    """Whether a value is one of those that the printed digits represent."""
    low, high = number.range
    return low <= value <= high or same(value, low) or same(value, high)


def exact(value: float, number: Printed) -> Verdict:
    """The verdict on a setting, which runs do not vary."""
    return "same" if prints_as(value, number) else "differs"


def against_summary(ours: Summary, mean: Printed, std: Printed, runs: int, scale: float = 1.0) -> Verdict | None:
    """Compare a mean and its spread over runs with a published pair, by Welch's test.

    Args:
        ours: the recomputed mean, sample standard deviation and number of runs.
        mean: the published mean.
        std: the published spread: the standard deviation, or another multiple of it.
        runs: how many it was published of.
        scale: what makes a standard deviation of the published spread: the root of `runs` for a standard error.
    """
    if min(ours.n, runs) < 2 or math.isnan(ours.mean):
        return None
    if prints_as(ours.mean, mean) and prints_as(ours.std / scale, std):
        return "same"
    parts = [part(ours), part(widest(mean, std, runs, scale))]
    return _judged(_distance(ours.mean, mean), parts)


def against_value(ours: Summary, value: Printed, runs: int) -> Verdict | None:
    """Compare a mean over runs with a published one of which no spread is known: theirs is taken to spread as ours.

    Args:
        ours: the recomputed mean, sample standard deviation and number of runs.
        value: the published mean.
        runs: how many it was published of.
    """
    if min(ours.n, runs) < 2 or math.isnan(ours.mean):
        return None
    if prints_as(ours.mean, value):
        return "same"
    if ours.std == 0:
        return None
    both = Part(ours.std**2 * (1 / ours.n + 1 / runs), ours.n - 1)
    return _judged(_distance(ours.mean, value), [both])


def against_gap(ours: tuple[Summary, Summary], gap: Printed, theirs: tuple[Summary, Summary]) -> Verdict | None:
    """Compare the difference of two methods with a published one.

    Args:
        ours: both methods' returns over runs; the difference is the first minus the second.
        gap: the published difference.
        theirs: what was published of both methods.
    """
    if min(sample.n for sample in (*ours, *theirs)) < 2:
        return None
    difference = ours[0].mean - ours[1].mean
    if prints_as(difference, gap):
        return "same"
    return _judged(_distance(difference, gap), [part(sample) for sample in (*ours, *theirs)])


def part(sample: Summary) -> Part:
    """A sample's share in the variance of a difference of means."""
    return Part(sample.std**2 / sample.n, sample.n - 1)


def widest(mean: Printed, std: Printed, runs: int, scale: float = 1.0) -> Summary:
    """A published summary with the largest standard deviation that prints so."""
    return Summary(mean.value, scale * std.range.high, runs)


def difference_p(difference: float, parts: Iterable[Part]) -> float:
    """Two-sided p-value of a difference whose variance is the sum of these parts.

    Degrees of freedom after Satterthwaite: (sum of v)^2 / sum of (v^2 / df). Of two samples' parts it is Welch's test.

    Returns:
        For no variance at all, the limit: 1 for no difference, else 0.
    """
    shares = list(parts)
    variance = sum(share.variance for share in shares)
    if variance == 0:
        return float(difference == 0)
    df = variance**2 / sum(share.variance**2 / share.df for share in shares)
    return float(2 * student.sf(abs(difference) / math.sqrt(variance), df))


def _distance(value: float, number: Printed) -> float:
    """How far a value is from the nearest of the numbers that print so."""
    return max(number.range.low - value, value - number.range.high, 0.0)


def _judged(difference: float, parts: Iterable[Part]) -> Verdict:
    return "compatible" if difference_p(difference, parts) >= ALPHA else "differs"
