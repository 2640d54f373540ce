"""A short report on recomputed numbers, for people."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from stats.paper.intervals import Interval
from stats.paper.results import Result, Status

WIDTH: Final = 100
_INDENT: Final = "    "


def report(results: Sequence[Result], *, everything: bool = False) -> Iterator[str]:
    """Lines: how many numbers of each table have which status, then each that is not consistent, with the reason.

    Args:
        results: in the order in which they are told.
        everything: list those that are consistent too.
    """
    statuses = Counter(result.status for result in results)
    yield f"{len(results)} numbers recomputed: " + ", ".join(f"{statuses[status]} {status.value}" for status in Status)
    yield ""
    yield from _counts(results)
    for status in (Status.inconsistent, Status.undecidable, Status.consistent):
        if statuses[status] and (everything or status is not Status.consistent):
            yield ""
            yield status.value.capitalize()
            for result in results:
                if result.status is status:
                    yield from _told(result)


def _counts(results: Sequence[Result]) -> Iterator[str]:
    tables = list(dict.fromkeys(result.table for result in results))
    counts = Counter((result.table, result.status) for result in results)
    width = max(map(len, ["table", *tables]))
    yield "  ".join(["table".ljust(width), *(status.value for status in Status)])
    for table in tables:
        numbers = (str(counts[table, status] or "-").rjust(len(status.value)) for status in Status)
        yield "  ".join([table.ljust(width), *numbers])


def _told(result: Result) -> Iterator[str]:
    # What a claim says in words is printed in no table.
    said = "claimed" if result.table == "claims" else "printed"
    yield f"  {result.table}, {result.item}, {result.quantity}: {said} {result.published}, {_recomputed(result.found)}"
    if result.note:
        yield from textwrap.wrap(result.note, WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)


def _recomputed(found: Interval) -> str:
    low, high = (f"{float(end):.6g}" for end in (found.low, found.high))
    if found.low.is_infinite() and found.high.is_infinite():
        return "not recomputable"
    if low == high:
        return f"recomputed {low}"
    if found.high.is_infinite():
        return f"recomputed at least {low}"
    return f"recomputed at most {high}" if found.low.is_infinite() else f"recomputed {low} to {high}"
