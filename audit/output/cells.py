"""The cells of a column as people read them: rounded, decimal points in line, shares and intervals beside counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from audit.output.escaping import in_line
from audit.output.formats import Row, aligned, is_number_column, rounded
from audit.output.names import NAMED

LONGEST_TEXT: Final = 200
"""Characters of a text that a table shows; the other formats have all of it."""

ROUGH: Final = "~"
"""Behind an interval that too few runs inform to rely on it: its column is named in `rough`."""
ROUGH_NOTE: Final = f"{ROUGH} marks a rough interval: too few runs to rely on it."

FOLDED: Final = ("_pct", "_low", "_high")
"""What the names of columns end with whose values are shown in brackets behind those of another column."""

WEIGHTED: Final = {"control_regressions": ("start", "matched")}
"""Counts whose percentage is a weighted mean where another column has some value: there it stands without the count."""

INTERVAL_DIGITS: Final = 3
"""Significant digits of a number that has its interval beside it."""


def plain_cells(rows: Sequence[Row], column: str) -> list[str]:
    """The values of a column, rounded and in line, and nothing else."""
    values = [row[column] for row in rows]
    return aligned(values) if is_number_column(rows, column) else [rounded(value) for value in values]


def cells(rows: Sequence[Row], column: str) -> list[str]:
    """The cells of a column: tasks and methods by their names, numbers with what is folded into them."""
    if not is_number_column(rows, column):
        known = NAMED.get(column, {})
        return [known.get(text, text) for text in plain_cells(rows, column)]
    values, shares, lows, highs = ([row.get(f"{column}{end}") for row in rows] for end in ("", *FOLDED))
    if column == "pct" or column.endswith("_pct"):
        values, lows, highs = (
            [round(value, 1) if isinstance(value, float) else value for value in some] for some in (values, lows, highs)
        )
    has_one = [pair != (None, None) for pair in zip(lows, highs, strict=True)]
    if any(share is not None for share in shares):
        values = [None if is_weighted(row, column) else row[column] for row in rows]
        found = _beside(aligned(values), ["" if share is None else f"({share:.1f}%)" for share in shares])
        ends = ["" if end is None else f"{end:.0f}" for end in (*lows, *highs)]
    else:
        found = aligned(values, INTERVAL_DIGITS if any(has_one) else 4)
        ends = aligned([*lows, *highs], INTERVAL_DIGITS)
    if not any(has_one):
        return found
    # An end that is not known, or has no bound.
    low, high = ([end.strip() or "?" for end in some] for some in (ends[: len(rows)], ends[len(rows) :]))
    intervals = _beside([f"[{end}," for end in low], [f"{end}]" for end in high])
    rough = [column in (row.get("rough") or ()) for row in rows]
    marks = [ROUGH if is_rough else " " * any(rough) for is_rough in rough]
    shown = [f"{each}{mark}" if has else "" for each, mark, has in zip(intervals, marks, has_one, strict=True)]
    return _beside(found, shown)


def is_weighted(row: Row, column: str) -> bool:
    """Whether the percentage of a count is a weighted mean, and so no share that the count is."""
    key, value = WEIGHTED.get(column, ("", None))
    return value is not None and row.get(key) == value


def unfolded(columns: Sequence[str], among: Sequence[str] = ()) -> list[str]:
    """The columns whose values are not in the cells of another one.

    Args:
        columns: by name.
        among: further columns whose cells may hold those of `columns`.
    """
    every = {*columns, *among}
    ends = ((column, end) for column in columns for end in FOLDED if column.endswith(end))
    folded = {column for column, end in ends if column.removesuffix(end) in every}
    return [column for column in columns if column not in folded]


def short(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text in one line, cut where it is very long."""
    shown = in_line(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def _beside(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Two columns as one, both to the right."""
    wide = max(map(len, left)), max(map(len, right))
    return [f"{a.rjust(wide[0])} {b.rjust(wide[1])}" for a, b in zip(left, right, strict=True)]
