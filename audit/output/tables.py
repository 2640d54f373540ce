"""Tables for people, in a terminal or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from audit.output.cells import by_importance, cells, plain_cells, short, unfolded
from audit.output.escaping import in_line
from audit.output.fitting import fitting
from audit.output.formats import Row, is_number_column

if TYPE_CHECKING:
    from rich.console import Console

WIDTH: Final = 100
"""Characters a line where no width is known; tables have all essential columns there, and wider ones exceed it."""

LEAST: Final = 20
"""Characters a line at least."""

OTHERS: Final = "; --columns has them"
"""What follows the names of columns that are left out, where users can ask for them."""


def print_table(
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    title: str,
    caption: str | None = None,
    headings: Mapping[str, str] | None = None,
    more: Sequence[str] = (),
    whole: bool = False,
    others: str = "",
) -> None:
    """Print rows with numbers rounded and their decimal points in line, a table per condition.

    A percentage is in brackets after the count that it belongs to: `regressions_pct` behind `regressions`; so does
    an interval, `risk_ratio_low` and `risk_ratio_high` behind `risk_ratio`. Headings are the columns' names, unless
    `headings` has a shorter one. Columns that do not fit into the terminal, or into `COLUMNS` characters where that
    variable is set, are left out and named below, the last ones first, but for what `by_importance` says of intervals
    and counts; where no width is known, none is left out.

    Args:
        columns: as they are shown, the most important ones first.
        rows: with all columns, and `condition`.
        title: above each table, which also names its condition.
        caption: below the last one.
        headings: of columns whose names are too long.
        more: columns that are printed too where there is room.
        whole: print all columns, however wide the table becomes.
        others: what follows the names of columns that are left out.
    """
    every = [column for column in unfolded(columns) if column != "condition"] or list(columns)
    rest = [column for column in unfolded(more, columns) if column != "condition"]
    shown = {column: (headings or {}).get(column, column.replace("_", " ")) for column in (*every, *rest)}
    parts = [
        (f"{title}, condition {short(condition)}", [row for row in rows if row["condition"] == condition])
        for condition in dict.fromkeys(row["condition"] for row in rows)
    ]
    _write(parts or [(title, [])], every, rest, shown, _short_cells, caption, whole=whole, others=others)


def print_plain_table(
    columns: Sequence[str],
    rows: Sequence[Row],
    title: str | None,
    caption: str | None = None,
    *,
    more: Sequence[str] = (),
    whole: bool = False,
    others: str = "",
) -> None:
    """Print rows of whatever columns in one table, each as it is and under its own name; see `print_table`."""
    headings = {column: in_line(column) for column in (*columns, *more)}
    _write([(title, rows)], columns, more, headings, plain_cells, caption, whole=whole, others=others)


def _write(
    parts: Sequence[tuple[str | None, Sequence[Row]]],
    columns: Sequence[str],
    more: Sequence[str],
    headings: Mapping[str, str],
    cells_of: Callable[[Sequence[Row], str], list[str]],
    caption: str | None,
    *,
    whole: bool,
    others: str,
) -> None:
    """Print tables of the same columns, and below the caption and what is left out."""
    from rich.console import Console

    # What is printed in Jupyter is text as well, not a display of Rich's own.
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, force_jupyter=False)
    is_known = console.is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    space = max(console.width, LEAST) if is_known else WIDTH
    chosen = dict.fromkeys(columns, sys.maxsize)
    fits = is_known and not whole
    every = (*columns, *more) if fits else columns
    filled = [{column: cells_of(rows, column) for column in every} for _, rows in parts]
    if fits:
        widths = {
            column: max(_width([*part[column], *headings[column].split()]) for part in filled) for column in every
        }
        texts = {column for column in widths if not any(is_number_column(rows, column) for _, rows in parts)}
        # Others are no help if they are empty, or the same text in every row.
        telling = [
            column
            for column in more
            if len({text for part in filled for text in part[column] if text.strip()}) > (column in texts)
        ]
        order = by_importance(columns, [row for _, rows in parts for row in rows])
        chosen = fitting(columns, telling, widths, texts, space, order)
    # A column without any value is nothing to miss.
    known = {column for _, rows in parts for row in rows for column in (*columns, *more) if row[column] is not None}
    missed = [in_line(column) for column in (*columns, *more) if column not in chosen and column in known]
    notes = [f"Left out: {', '.join(missed)}{others}."] if missed else []
    if notes and not others:
        notes.append("")  # the table is a part of something longer
    # Written in one go and not by Rich, which takes a reader that closes the pipe, such as `head`, for a failure.
    with console.capture() as written:
        for (title, rows), part in zip(parts, filled, strict=True):
            _print_one({column: headings[column] for column in chosen}, chosen, rows, part, title, console, space)
        lines = [*(caption.split("\n") if caption else ()), *notes]
        if lines:
            console.width = space
            console.print("\n".join(map(in_line, lines)))
    sys.stdout.write(written.get())


def _print_one(
    columns: Mapping[str, str],
    most: Mapping[str, int],
    rows: Sequence[Row],
    filled: Mapping[str, list[str]],
    title: str | None,
    console: Console,
    space: int,
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    # As wide as needed and no wider: headings break between words, and no digit is ever cut off.
    widths = {
        column: min(_width([*filled[column], *heading.split()]), most[column]) for column, heading in columns.items()
    }
    tight = sum(widths.values()) + len(columns) - 1
    gap = 1 if tight + len(columns) - 1 <= space else 0
    if title:
        console.width = space
        console.print(Text(in_line(title)))
    console.width = max(space, tight)
    table = Table(box=box.SIMPLE_HEAD)
    table.show_edge, table.pad_edge, table.padding = False, False, (0, gap, 0, 0)
    texts = []
    for column, heading in columns.items():
        side: Literal["left", "right"] = "left"
        mine = filled[column]
        if is_number_column(rows, column):
            side = "right"
            # Rich strips the blanks that numbers without decimals end with, where it moves them to the right itself.
            mine = [cell.rjust(widths[column]) for cell in mine]
        texts.append(mine)
        table.add_column(heading, justify=side, width=widths[column], overflow="fold")
    for row in zip(*texts, strict=True):
        table.add_row(*(Text(cell, justify="left") for cell in row))
    console.print(table)
    console.print()


def _width(texts: Sequence[str]) -> int:
    """The cells of a terminal that the longest of some texts takes."""
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=1)


def _short_cells(rows: Sequence[Row], column: str) -> list[str]:
    found = cells(rows, column)
    return found if is_number_column(rows, column) else [short(text) for text in found]
