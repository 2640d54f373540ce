"""Numbers as a text prints them, and whether a number of the record is meant by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

NUMBER: Final = r"-?\d{1,12}(?:,\d{3}(?!\d))*(?:\.\d{1,12})?(?:e[-+]?\d{1,2})?"
"""A number as prompts and answers print it: -1.0, 446, 1,000, 1.2e-05. Made for text folded by `fold`."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A printed number.

    Attributes:
        value: the number.
        precision: half a unit of its last printed digit, which is how far rounding may have moved it.
    """

    value: float
    precision: float

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what `NUMBER` matches, or "zero"."""
        if text == "zero":
            return cls(0.0, 0.5)
        mantissa, _, exponent = text.replace(",", "").partition("e")
        decimals = len(mantissa.partition(".")[2])
        scale = 10.0 ** int(exponent or 0)
        return cls(float(mantissa) * scale, 0.5 * 10.0**-decimals * scale)

    def distance(self, exact: float) -> float | None:
        """How far it is from a number of the record; None where it cannot be that number rounded."""
        distance = abs(self.value - exact)
        slack = 1e-9 * max(1.0, abs(exact))
        return distance if distance <= self.precision + slack else None
