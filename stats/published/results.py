"""The verdict on a printed number that was recomputed."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from stats.published.intervals import EVERYTHING, Interval
from stats.published.printed import Printed

COLUMNS: Final = ("table", "item", "quantity", "status", "published", "low", "high", "note")


class Status(StrEnum):
    """How a printed number relates to the recomputed one; `docs/stats.md` has the exact rules."""

    consistent = "consistent"
    inconsistent = "inconsistent"
    undecidable = "undecidable"


@dataclass(frozen=True, slots=True)
class Result:
    """A printed number, what recomputing gives, and the verdict."""

    table: str
    item: str
    quantity: str
    status: Status
    published: str
    found: Interval = EVERYTHING
    note: str | None = None

    def row(self) -> dict[str, Any]:
        """A row of all `COLUMNS`; no bound is None."""
        return {
            "table": self.table,
            "item": self.item,
            "quantity": self.quantity,
            "status": self.status.value,
            "published": self.published,
            "low": _number(self.found.low),
            "high": _number(self.found.high),
            "note": self.note,
        }


def judge(published: Printed, found: Interval, *, face: Interval | None = None, decides: bool = True) -> Status:
    """Compare a printed number with a recomputed one.

    Args:
        published: the printed number.
        found: all that it can be, recomputed from other printed numbers.
        face: the same, if those numbers were not rounded.
        decides: whether `found` is narrow enough to decide anything.

    Returns:
        Inconsistent where no number prints like this and can be it. Otherwise consistent: where `found` decides
        something, where all of it prints like this, or where the printed numbers, taken as exact, give the printed
        result. Otherwise undecidable. A printed bound, as in `<0.001`, is decided only by the latter two.
    """
    if not published.interval.meets(found):
        return Status.inconsistent
    if (decides and not published.is_bound) or found.within(published.interval):
        return Status.consistent
    return Status.consistent if face is not None and face.within(published.interval) else Status.undecidable


def compare(
    table: str, item: str, quantity: str, published: Printed, found: Interval, wrong: str, face: Interval | None = None
) -> Result:
    """Compare a printed number with a recomputed one; `wrong` names what it contradicts."""
    status = judge(published, found, face=face)
    return Result(table, item, quantity, status, published.text, found, None if status is Status.consistent else wrong)


def _number(value: Decimal) -> float | None:
    # A difference of nothing is rounded down to -0.
    return float(value) + 0.0 if value.is_finite() else None
