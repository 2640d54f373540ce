"""Tables for people, in a terminal or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from audit.escaping import in_line
from audit.formats import Row, is_number_column, rounded

if TYPE_CHECKING:
    from rich.console import Console

WIDTH: Final = 100
"""Characters a line where the output is no terminal; a table that needs more gets more."""

LONGEST_TEXT: Final = 200
"""Characters of a text that a table shows; the other formats have all of it."""


def print_table(
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    title: str,
    caption: str | None = None,
    headings: Mapping[str, str] | None = None,
) -> None:
    """Print rows with numbers rounded and to the right, a table per condition.

    A percentage stands in brackets behind the count that it belongs to: `regressions_pct` behind `regressions`; so does
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
    # Written in one go and not by Rich, which takes a reader that has seen enough, say `head`, for a failure.
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
    """Print rows of whatever columns in one table, each as it is."""
    console = _console()
    space = console.width if console.is_terminal else WIDTH
    headings = {column: column.replace("_", " ") for column in columns}
    with console.capture() as written:
        _print_one(headings, rows, title, console, space, lambda row, column: rounded(row[column]))
        if caption:
            console.width = space
            console.print("\n".join(in_line(line) for line in caption.split("\n")))
    sys.stdout.write(written.get())


def _console() -> Console:
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def _print_one(
    columns: Mapping[str, str],
    rows: Sequence[Row],
    title: str | None,
    console: Console,
    space: int,
    cell: Callable[[Row, str], str] | None = None,
) -> None:
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table

    cells = {column: [(cell or _cell)(row, column) for row in rows] for column in columns}
    # As wide as needed and no wider: headings break between words, and no digit is ever cut off.
    widths = {column: max(map(cell_len, [*cells[column], *heading.split()])) for column, heading in columns.items()}
    tight = sum(widths.values()) + len(columns) + 1
    gap = 1 if tight + len(columns) <= space else 0
    console.width = max(space, tight)
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    table.show_edge, table.pad_edge, table.padding = False, False, (0, gap, 0, 0)
    for column, heading in columns.items():
        side: Literal["left", "right"] = "right" if is_number_column(rows, column) else "left"
        table.add_column(heading, justify=side, width=widths[column])
    for row in zip(*cells.values(), strict=True):
        table.add_row(*row)
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


def _cell(row: Row, column: str) -> str:
    # Blanks that do not break keep all of it on one line.
    text = _short(rounded(row[column]))
    share = row.get(f"{column}_pct")
    if share is not None:
        return f"{text}\u00a0({share:.3g}%)"
    ends = row.get(f"{column}_low"), row.get(f"{column}_high")
    if ends == (None, None):
        return text
    # An end that is not known, or has no bound.
    low, high = ("?" if end is None else f"{end:.3g}" for end in ends)
    return f"{row[column]:.3g}\u00a0[{low},\u00a0{high}]"
