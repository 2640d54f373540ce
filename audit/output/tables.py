"""Tables for people, in a terminal or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from audit.output.escaping import in_line
from audit.output.formats import Row, aligned, is_number_column, rounded

if TYPE_CHECKING:
    from rich.console import Console

WIDTH: Final = 100
"""Characters a line where the output is not a terminal; wider tables exceed it."""

LONGEST_TEXT: Final = 200
"""Characters of a text that a table shows; the other formats have all of it."""

INTERVAL_DIGITS: Final = 3
"""Significant digits of a number that has its interval beside it."""


def print_table(
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    title: str,
    caption: str | None = None,
    headings: Mapping[str, str] | None = None,
) -> None:
    """Print rows with numbers rounded and their decimal points in line, a table per condition.

    A percentage is in brackets after the count that it belongs to: `regressions_pct` behind `regressions`; so does
    an interval, `risk_ratio_low` and `risk_ratio_high` behind `risk_ratio`. Headings are the columns' names, unless
    `headings` has a shorter one.
    """
    console = _console()
    space = console.width if console.is_terminal else WIDTH
    shown = {
        column: (headings or {}).get(column, column.replace("_", " "))
        for column in columns
        if not _is_folded(column, columns) and column != "condition"
    }
    # Written in one go and not by Rich, which takes a reader that closes the pipe, such as `head`, for a failure.
    with console.capture() as written:
        for condition in dict.fromkeys(row["condition"] for row in rows):
            mine = [row for row in rows if row["condition"] == condition]
            _print_one(shown, mine, f"{title}, condition {_short(condition)}", console, space)
        if not rows:
            _print_one(shown, [], title, console, space)
        if caption:
            console.width = space
            console.print("\n".join(in_line(line) for line in caption.split("\n")))
    sys.stdout.write(written.get())


def print_plain_table(
    columns: Sequence[str], rows: Sequence[Row], title: str | None, caption: str | None = None
) -> None:
    """Print rows of whatever columns in one table, each as it is and under its own name."""
    console = _console()
    space = console.width if console.is_terminal else WIDTH
    headings = {column: in_line(column) for column in columns}
    with console.capture() as written:
        _print_one(headings, rows, title, console, space, _plain_cells)
        if caption:
            console.width = space
            console.print("\n".join(in_line(line) for line in caption.split("\n")))
    sys.stdout.write(written.get())


def _console() -> Console:
    from rich.console import Console

    # What is printed in Jupyter is text as well, not a display of Rich's own.
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, force_jupyter=False)


def _print_one(
    columns: Mapping[str, str],
    rows: Sequence[Row],
    title: str | None,
    console: Console,
    space: int,
    cells_of: Callable[[Sequence[Row], str], list[str]] | None = None,
) -> None:
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    cells = {column: (cells_of or _cells)(rows, column) for column in columns}
    # As wide as needed and no wider: headings break between words, and no digit is ever cut off.
    widths = {
        column: max(map(cell_len, [*cells[column], *heading.split()]), default=1) for column, heading in columns.items()
    }
    tight = sum(widths.values()) + len(columns) + 1
    gap = 1 if tight + len(columns) <= space else 0
    console.width = max(space, tight)
    table = Table(title=title and in_line(title), box=box.SIMPLE_HEAD, title_justify="left")
    table.show_edge, table.pad_edge, table.padding = False, False, (0, gap, 0, 0)
    for column, heading in columns.items():
        side: Literal["left", "right"] = "left"
        if is_number_column(rows, column):
            side = "right"
            # Rich strips the blanks that numbers without decimals end with, where it moves them to the right itself.
            cells[column] = [cell.rjust(widths[column]) for cell in cells[column]]
        table.add_column(heading, justify=side, width=widths[column])
    for row in zip(*cells.values(), strict=True):
        table.add_row(*(Text(cell, justify="left") for cell in row))
    console.print(table)
    console.print()


def _is_folded(column: str, columns: Sequence[str]) -> bool:
    """Whether another column's cells hold this one's."""
    return any(
        column.endswith(suffix) and column.removesuffix(suffix) in columns for suffix in ("_pct", "_low", "_high")
    )


def _short(text: str) -> str:
    shown = in_line(text)
    return shown if len(shown) <= LONGEST_TEXT else f"{shown[: LONGEST_TEXT - 1]}…"


def _plain_cells(rows: Sequence[Row], column: str) -> list[str]:
    values = [row[column] for row in rows]
    return aligned(values) if is_number_column(rows, column) else [rounded(value) for value in values]


def _cells(rows: Sequence[Row], column: str) -> list[str]:
    """The cells of a column, with what is folded into them."""
    if not is_number_column(rows, column):
        return [_short(rounded(row[column])) for row in rows]
    values, shares, lows, highs = ([row.get(f"{column}{end}") for row in rows] for end in ("", "_pct", "_low", "_high"))
    if any(share is not None for share in shares):
        return _beside(aligned(values), ["" if share is None else f"({share:.1f}%)" for share in shares])
    if all(end is None for end in (*lows, *highs)):
        return aligned(values)
    ends = aligned([*lows, *highs], INTERVAL_DIGITS)
    # An end that is not known, or has no bound.
    low, high = ([end.strip() or "?" for end in some] for some in (ends[: len(rows)], ends[len(rows) :]))
    intervals = _beside([f"[{end}," for end in low], [f"{end}]" for end in high])
    has_one = [pair != (None, None) for pair in zip(lows, highs, strict=True)]
    shown = [interval if has else "" for interval, has in zip(intervals, has_one, strict=True)]
    return _beside(aligned(values, INTERVAL_DIGITS), shown)


def _beside(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Two columns as one, both to the right, with blanks between that do not break."""
    wide = max(map(len, left)), max(map(len, right))
    return [f"{a.rjust(wide[0])} {b.rjust(wide[1])}".replace(" ", "\u00a0") for a, b in zip(left, right, strict=True)]
