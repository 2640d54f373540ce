"""A short report on recomputed numbers, for people."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from stats.published.intervals import Interval
from stats.published.results import Result, Status

WIDTH: Final = 100
UNKNOWN: Final = "unknown"
_INDENT: Final = "    "


def report(results: Sequence[Result], *, everything: bool = False) -> Iterator[str]:
    """Lines: how many numbers of each table have which status, then each that is not consistent, with the reason.

    Args:
        results: in the order in which they are listed.
        everything: list those that are consistent too.
    """
    statuses = Counter(result.status for result in results)
    yield counts(results)
    yield ""
    yield from _by_table(results)
    for status in (Status.inconsistent, Status.undecidable, Status.consistent):
        if statuses[status] and (everything or status is not Status.consistent):
            yield ""
            yield status.value.capitalize()
            for result in results:
                if result.status is status:
                    yield from _lines(result)


def counts(results: Sequence[Result]) -> str:
    """How many numbers there are, and how many of each status."""
    statuses = Counter(result.status for result in results)
    return f"{len(results)} number{'' if len(results) == 1 else 's'} recomputed: " + ", ".join(
        f"{statuses[status]} {status.value}" for status in Status
    )


def _by_table(results: Sequence[Result]) -> Iterator[str]:
    tables = list(dict.fromkeys(result.table for result in results))
    found = Counter((result.table, result.status) for result in results)
    width = max(map(len, ["table", *tables]))
    yield "  ".join(["table".ljust(width), *(status.value for status in Status)])
    for table in tables:
        numbers = (str(found[table, status] or "-").rjust(len(status.value)) for status in Status)
        yield "  ".join([table.ljust(width), *numbers])


def _lines(result: Result) -> Iterator[str]:
    found = recomputed(result.found)
    again = "not recomputable" if found == UNKNOWN else f"recomputed {found}"
    # Claims are made in the text, and printed in no table.
    verb = "claimed" if result.table == "claims" else "printed"
    yield f"  {result.table}, {result.item}, {result.quantity}: {verb} {result.published}, {again}"
    if result.note:
        yield from textwrap.wrap(result.note, WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)


def recomputed(found: Interval) -> str:
    """What a number can be, in words."""
    low, high = (f"{float(end) + 0.0:.6g}" for end in (found.low, found.high))
    if found.low.is_infinite() and found.high.is_infinite():
        return UNKNOWN
    if low == high:
        return low
    if found.high.is_infinite():
        return f"at least {low}"
    return f"at most {high}" if found.low.is_infinite() else f"{low} to {high}"
