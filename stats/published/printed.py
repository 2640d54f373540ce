"""Numbers as they are printed, and the ranges that they stand for."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

LONGEST: Final = 40
"""Maximum length of a printed number in characters."""

_NUMBER: Final = re.compile(r"([<>≤≥~])?\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)")
_SAME: Final = str.maketrans({"−": "-", "∼": "~", "≈": "~"})
_ROUNDING: Final = 1e-9
"""Relative error granted to arithmetic and to distribution functions."""


class NotPrintedError(ValueError):
    """A text is no printed number."""


class Range(NamedTuple):
    """All numbers from `low` to `high`, both included; an end may be infinite."""

    low: float
    high: float

    def meets(self, other: Range) -> bool:
        """Whether the two have a number in common, up to rounding error."""
        return _at_most(self.low, other.high) and _at_most(other.low, self.high)

    def within(self, other: Range) -> bool:
        """Whether the other holds all of this, up to rounding error."""
        return _at_most(other.low, self.low) and _at_most(self.high, other.high)


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number: its text, the number itself, and the range of the numbers that print like this."""

    text: str
    value: float
    range: Range
    is_bound: bool = False
    """Whether it is printed as a bound, as in `<0.001`."""


def printed(text: str) -> Printed:
    """Read a printed number.

    Args:
        text: `0.70` represents 0.695 to 0.705, as trailing zeros count; `1.5e-08` for 1.45e-08 to 1.55e-08; `<0.001`
            and `≤0.001` for all up to 0.001, `>3` and `≥3` for all from 3; `~28`, about 28, for one unit of the last
            digit to each side, 27 to 29.

    Raises:
        NotPrintedError: it is none of these.
    """
    plain = text.strip().translate(_SAME)
    match = _NUMBER.fullmatch(plain) if len(plain) <= LONGEST else None
    if match is None or math.isinf(float(match[2])):
        short = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        raise NotPrintedError(f"{short!r} is not a number such as 0.70, 1.5e-08, <0.001 or ~28")
    mark, digits = match.groups()
    value = Decimal(digits)
    if mark in ("<", "≤"):
        return Printed(text, float(value), Range(-math.inf, float(value)), is_bound=True)
    if mark in (">", "≥"):
        return Printed(text, float(value), Range(float(value), math.inf), is_bound=True)
    unit = Decimal(1).scaleb(int(value.as_tuple().exponent))
    half = unit if mark else unit / 2
    return Printed(text, float(value), Range(float(value - half), float(value + half)))


def _at_most(a: float, b: float) -> bool:
    return a <= b or math.isclose(a, b, rel_tol=_ROUNDING)
