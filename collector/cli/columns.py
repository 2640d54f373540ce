"""Which columns of a table a terminal has room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

GAP: Final = 2
"""Columns of a terminal between two columns of a table."""


def fitting(
    rows: Sequence[Mapping[str, str]], headings: Sequence[str], least_important: Sequence[str], width: int
) -> list[str]:
    """The headings that a terminal has room for, in their order.

    Args:
        rows: cells by heading.
        headings: of all columns.
        least_important: those that may be left out, the first one first.
        width: of the terminal, in columns.
    """
    widths = {name: max(len(name), *(len(row[name]) for row in rows), 0) for name in headings}
    shown = list(headings)
    for name in least_important:
        if sum(widths[each] + GAP for each in shown) - GAP <= width:
            break
        shown = [each for each in shown if each != name]
    return shown
