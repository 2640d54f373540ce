"""How far values within a range can spread around a printed mean."""

from __future__ import annotations

from decimal import Decimal

from stats.published.intervals import ZERO, Interval, point


def possible_std(mean: Interval, lowest: Decimal, highest: Decimal, n: int) -> Interval:
    """Bounds of the sample standard deviation (n - 1) of n values between two limits, given their mean.

    The mean of their squared distances from the mean is at most (highest - mean) (mean - lowest): R. Bhatia and
    C. Davis, "A better bound on the variance", American Mathematical Monthly 107 (2000).

    Args:
        mean: what the mean can be.
        lowest: no value is below.
        highest: no value is above.
        n: how many values, two or more.

    Raises:
        ValueError: the mean cannot lie within the limits.
    """
    inside = mean & Interval(lowest, highest)
    # The product is a parabola in the mean: largest next to the middle of the range.
    middle = (lowest + highest) / 2
    top = point(min(max(middle, inside.low), inside.high))
    most = (point(highest) - top) * (top - point(lowest)) * point(n) / point(n - 1)
    return Interval(ZERO, most.root().high)
