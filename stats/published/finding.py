"""What recomputing a claim gives, and counts of cases of which some are open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from stats.published.intervals import Interval, point
from stats.published.printed import Printed


@dataclass(frozen=True, slots=True)
class Finding:
    """A recomputed number.

    `found` is all that it can be, `face` what it is if the printed numbers are exact, and `note` what a reader of a
    contradiction should know.
    """

    found: Interval
    face: Interval
    note: str | None = None


class Verdict(NamedTuple):
    """Whether something holds of printed numbers: whatever the rounding, for some rounding, and at face value."""

    certain: bool
    possible: bool
    face: bool


def exceeds(a: Printed, b: Printed, *, strictly: bool) -> Verdict:
    """Whether a > b, or a >= b."""
    if strictly:
        return Verdict(a.interval.low > b.interval.high, a.interval.high > b.interval.low, a.value > b.value)
    return Verdict(a.interval.low >= b.interval.high, a.interval.high >= b.interval.low, a.value >= b.value)


def every(verdicts: Iterable[Verdict]) -> Verdict:
    """Whether all hold."""
    items = list(verdicts)
    return Verdict(*(all(each[i] for each in items) for i in range(3)))


def counted(cases: dict[str, Verdict], *, named: str | None = "not so") -> Finding:
    """How many cases hold, naming the others in the note; no note where `named` is None."""
    verdicts = cases.values()
    low, high, face = (sum(verdict[i] for verdict in verdicts) for i in range(3))
    others = [name for name, verdict in cases.items() if not verdict.face]
    note = f"{named}: {', '.join(others)}" if named and others else None
    return Finding(Interval(point(low).low, point(high).high), point(face), note)
