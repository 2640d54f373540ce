"""Numbers as they are printed, and the intervals that they represent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from stats.published.intervals import INFINITY, Interval, point

LONGEST: Final = 40
"""Largest length of a printed number in characters; arithmetic with longer ones would be slow."""

_NUMBER: Final = re.compile(r"([<>≤≥~])?\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)")
_SAME: Final = str.maketrans({"−": "-", "∼": "~", "≈": "~"})


class NotPrintedError(ValueError):
    """A text is no printed number."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number: its text, the number itself, and the interval of the numbers that print like this."""

    text: str
    value: Decimal
    interval: Interval
    is_bound: bool = False
    """Whether it is printed as a bound, as in `<0.001`."""

    def limited(self, limits: Interval) -> Interval:
        """Those of its numbers that the quantity can have; all of them where it can have none."""
        return self.interval & limits if self.interval.meets(limits) else self.interval


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
    if match is None:
        raise NotPrintedError(f"{shortened(text)!r} is not a number such as 0.70, 1.5e-08, <0.001 or ~28")
    mark, digits = match.groups()
    value = Decimal(digits)
    if mark in ("<", "≤"):
        return Printed(text, value, Interval(-INFINITY, value), is_bound=True)
    if mark in (">", "≥"):
        return Printed(text, value, Interval(value, INFINITY), is_bound=True)
    unit = Decimal(1).scaleb(int(value.as_tuple().exponent))
    half = unit if mark else unit / 2
    return Printed(text, value, point(value) + Interval(-half, half))


def shortened(text: str) -> str:
    """A text that may be long, for a message."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
