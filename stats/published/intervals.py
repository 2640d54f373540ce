"""Interval arithmetic in decimals: every operation rounds its ends outwards, so that no possible value is lost.

R. E. Moore, R. B. Kearfott and M. J. Cloud, *Introduction to Interval Analysis* (SIAM, 2009), chapters 2 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, DivisionByZero, InvalidOperation
from typing import Final

INFINITY: Final = Decimal("Infinity")
ZERO: Final = Decimal(0)

# Far more digits than are ever printed: sums and products of printed numbers are exact.
_DOWN: Final = Context(prec=60, rounding=ROUND_FLOOR, traps=[InvalidOperation, DivisionByZero])
_UP: Final = Context(prec=60, rounding=ROUND_CEILING, traps=[InvalidOperation, DivisionByZero])


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `low` to `high`, both included; an end may be infinite."""

    low: Decimal
    high: Decimal

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"no interval: {self.low} to {self.high}")

    def __add__(self, other: Interval) -> Interval:
        return Interval(_DOWN.add(self.low, other.low), _UP.add(self.high, other.high))

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __neg__(self) -> Interval:
        return Interval(self.high.copy_negate(), self.low.copy_negate())

    def __mul__(self, other: Interval) -> Interval:
        return _corners(self, other, _DOWN.multiply, _UP.multiply)

    def __truediv__(self, other: Interval) -> Interval:
        if other.low <= 0 <= other.high:
            return EVERYTHING
        return _corners(self, other, _DOWN.divide, _UP.divide)

    def __and__(self, other: Interval) -> Interval:
        """What both hold.

        Raises:
            ValueError: nothing; ask `meets` first.
        """
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def __abs__(self) -> Interval:
        # Not abs(): that would round to the digits of the default context.
        ends = self.low.copy_abs(), self.high.copy_abs()
        return Interval(ZERO if self.low <= 0 <= self.high else min(ends), max(ends))

    def meets(self, other: Interval) -> bool:
        """Whether the two have a number in common."""
        return self.low <= other.high and other.low <= self.high

    def within(self, other: Interval) -> bool:
        """Whether the other holds all of this."""
        return other.low <= self.low and self.high <= other.high

    def square(self) -> Interval:
        """Squares of its numbers; tighter than the product with itself, where it has both signs."""
        positive = abs(self)
        return positive * positive

    def root(self) -> Interval:
        """Square roots of its numbers, those below zero taken for zero."""
        return Interval(
            self.low.sqrt(_DOWN).next_minus(_DOWN) if self.low > 0 else ZERO,
            self.high.sqrt(_UP).next_plus(_UP) if self.high > 0 else ZERO,
        )


EVERYTHING: Final = Interval(-INFINITY, INFINITY)
PROBABILITY: Final = Interval(ZERO, Decimal(1))


def point(value: Decimal | int) -> Interval:
    """The interval of one number."""
    return Interval(Decimal(value), Decimal(value))


def total(intervals: Iterable[Interval]) -> Interval:
    """Their sum."""
    result = point(0)
    for interval in intervals:
        result += interval
    return result


def highest(intervals: Iterable[Interval]) -> Interval:
    """What the largest of some numbers can be, one out of each interval."""
    items = list(intervals)
    return Interval(max(item.low for item in items), max(item.high for item in items))


def hull(intervals: Iterable[Interval]) -> Interval:
    """The smallest interval that holds some others."""
    items = list(intervals)
    return Interval(min(item.low for item in items), max(item.high for item in items))


def _corners(
    a: Interval,
    b: Interval,
    down: Callable[[Decimal, Decimal], Decimal],
    up: Callable[[Decimal, Decimal], Decimal],
) -> Interval:
    pairs = [(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(min(down(x, y) for x, y in pairs), max(up(x, y) for x, y in pairs))
