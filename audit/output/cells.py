"""The cells of a column as people read them: rounded, decimal points in line, shares and intervals beside counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from audit.output.escaping import in_line, visible
from audit.output.formats import Row, aligned, as_json, is_nested, is_number_column, rounded
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
    return [column for column in columns if not any(_is_end(column, end, every) for end in FOLDED)]


def by_importance(columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Columns in the order in which a narrow table keeps them.

    Where numbers have intervals, these come right behind the texts, shares last of them, then p-values; counts without
    a percentage come behind all others. Without intervals, columns stay in their order. Columns without any value come
    last.
    """
    every, columns = columns, [column for column in columns if _any(rows, column)]
    empty = [column for column in every if column not in columns]
    texts = [column for column in columns if not is_number_column(rows, column)]
    bounded = [column for column in columns if _any(rows, f"{column}_low", f"{column}_high")]
    intervals = sorted(bounded, key=lambda column: _any(rows, f"{column}_pct"))
    if not intervals:
        return [*columns, *empty]
    tests = [column for column in columns if column == "p" or column.endswith("_p")]
    first = [*texts, *intervals, *tests]
    rest = [column for column in columns if column not in first]
    counts = [column for column in rest if _is_count(rows, column)]
    return [*first, *(column for column in rest if column not in counts), *counts, *empty]


def _is_count(rows: Sequence[Row], column: str) -> bool:
    return not _any(rows, f"{column}_pct") and all(isinstance(row[column], int | None) for row in rows)


def _any(rows: Sequence[Row], *columns: str) -> bool:
    return any(row.get(column) is not None for row in rows for column in columns)


def short(text: str) -> str:
    """A text in one line, cut where it is very long."""
    shown = in_line(text)
    return shown if len(shown) <= LONGEST_TEXT else f"{shown[: LONGEST_TEXT - 1]}…"


def short_values(rows: Sequence[Row], columns: Sequence[str], longest: int) -> tuple[list[Row], bool]:
    """Rows whose texts and objects are in one line of so many characters at most, and whether any was cut."""
    found = [{column: _short_value(row[column], longest) for column in columns} for row in rows]
    return [{column: value for column, (value, _) in row.items()} for row in found], any(
        is_cut for row in found for _, is_cut in row.values()
    )


def _short_value(value: Any, longest: int) -> tuple[Any, bool]:
    text = as_json(value) if is_nested(value) else value
    if not isinstance(text, str):
        return value, False
    line = visible(text).replace("\n", "\\n").replace("\t", "\\t")
    return (f"{line[: longest - 1]}…", True) if len(line) > longest else (line, False)


def _is_end(column: str, end: str, columns: set[str]) -> bool:
    return column.endswith(end) and column.removesuffix(end) in columns


def _beside(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Two columns as one, both to the right, with blanks between that do not break."""
    wide = max(map(len, left)), max(map(len, right))
    return [f"{a.rjust(wide[0])} {b.rjust(wide[1])}".replace(" ", "\u00a0") for a, b in zip(left, right, strict=True)]
