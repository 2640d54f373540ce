"""Tables for people, in a terminal or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from audit.output.cells import ROUGH, ROUGH_NOTE, cells, plain_cells, short, unfolded
from audit.output.escaping import in_line
from audit.output.formats import Row, is_number_column
from audit.output.narrow import Arrangement, arranged, cell_width

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

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
    decides: Sequence[str] | None = None,
) -> None:
    """Print rows with numbers rounded and their decimal points in line, a table per condition.

    A percentage is in brackets after the count that it belongs to: `regressions_pct` behind `regressions`; so does
    an interval, `risk_ratio_low` and `risk_ratio_high` behind `risk_ratio`. Headings are the columns' names, unless
    `headings` has a shorter one. Columns that do not fit into the terminal, or into `COLUMNS` characters where that
    variable is set, are left out and named below, the last ones first, but for what `by_importance` says of intervals
    and counts; where no width is known, none is left out. Columns that decide are never left out: where they do not
    fit, all columns are in several tables below each other.

    Args:
        columns: as they are shown, the most important ones first.
        rows: with all columns, and `condition`.
        title: above each table, which also names its condition.
        caption: below the last one.
        headings: of columns whose names are too long.
        more: columns that are printed too where there is room.
        whole: print all columns, however wide the table becomes.
        others: what follows the names of columns that are left out.
        decides: columns that are never left out; None for those of `audit.output.importance.DECIDING`.
    """
    every = [column for column in unfolded(columns) if column != "condition"] or list(columns)
    rest = [column for column in unfolded(more, columns) if column != "condition"]
    shown = {column: (headings or {}).get(column, column.replace("_", " ")) for column in (*every, *rest)}
    parts = [
        (f"{title}, condition {short(condition)}", [row for row in rows if row["condition"] == condition])
        for condition in dict.fromkeys(row["condition"] for row in rows)
    ]
    _write(
        parts or [(title, [])], every, rest, shown, _short_cells, caption, whole=whole, others=others, decides=decides
    )


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
    decides: Sequence[str] | None = None,
) -> None:
    """Print tables of the same columns, and below the caption and what is left out."""
    from rich.console import Console

    # What is printed in Jupyter is text as well, not a display of Rich's own.
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, force_jupyter=False)
    is_known = console.is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    space = max(console.width, LEAST) if is_known else WIDTH
    fits = is_known and not whole
    every = (*columns, *more) if fits else columns
    filled = [{column: cells_of(rows, column) for column in every} for _, rows in parts]
    arrangement = Arrangement([dict.fromkeys(columns, sys.maxsize)], {})
    if fits:
        cells_of_parts = [(rows, part) for (_, rows), part in zip(parts, filled, strict=True)]
        titled = cells_of is not plain_cells
        arrangement = arranged(columns, more, headings, cells_of_parts, space, decides=decides, titled=titled)
    tables, shared = arrangement
    same = "".join(f", {headings[column]} {text.strip()}" for column, text in shared.items())
    known = {column for _, rows in parts for row in rows for column in (*columns, *more) if row[column] is not None}
    # A column without any value is nothing to miss.
    found = {*shared, *(column for table in tables for column in table)}
    missed = [in_line(column) for column in (*columns, *more) if column not in found and column in known]
    notes = [f"Left out: {', '.join(missed)}{others}."] if missed else []
    if notes and not others:
        notes.append("")  # the table is a part of something longer
    # Written in one go and not by Rich, which takes a reader that closes the pipe, such as `head`, for a failure.
    written = [
        _table(
            {column: headings[column] for column in table},
            table,
            rows,
            part,
            f"{title}{same}" if title and table is tables[0] else None,
            console,
            space,
        )
        for (title, rows), part in zip(parts, filled, strict=True)
        for table in tables
    ]
    if any(cell.endswith(ROUGH) for part in filled for table in tables for column in table for cell in part[column]):
        notes.insert(0, ROUGH_NOTE)
    lines = [*(caption.split("\n") if caption else ()), *notes]
    if lines:
        console.width = space
        written.append(_drawn(console, "\n".join(map(in_line, lines))))
    sys.stdout.write("".join(written))


def _table(
    columns: Mapping[str, str],
    most: Mapping[str, int],
    rows: Sequence[Row],
    filled: Mapping[str, list[str]],
    title: str | None,
    console: Console,
    space: int,
) -> str:
    from rich import box
    from rich.text import Text

    # As wide as needed and no wider: headings break between words, and no digit is ever cut off.
    widths = {
        column: min(cell_width([*filled[column], *heading.split()]), most[column])
        for column, heading in columns.items()
    }
    tight = sum(widths.values()) + len(columns) - 1
    gap = 1 if tight + len(columns) - 1 <= space else 0
    written = []
    if title:
        console.width = space
        written.append(_drawn(console, Text(in_line(title))))
    console.width = max(space, tight)
    texts = []
    numbers = {column for column in columns if is_number_column(rows, column)}
    for column in columns:
        mine = filled[column]
        # Rich strips the blanks that numbers without decimals end with, where it moves them to the right itself.
        texts.append([cell.rjust(widths[column]) for cell in mine] if column in numbers else mine)
    layout = _Layout(list(columns.values()), [*widths.values()], [column in numbers for column in columns], gap)
    every = list(zip(*texts, strict=True))
    if tight + gap * (len(columns) - 1) > console.width:  # a terminal whose width is fixed; Rich makes columns narrower
        written.append(_drawn(console, layout.with_rows(every)))
    else:
        written.append(_drawn(console, layout.with_rows([])))
        between = box.SIMPLE_HEAD.substitute(console.options).mid_vertical
        for row in every:
            line = layout.line(row, between)
            written.append(_drawn(console, layout.with_rows([row], headed=False)) if line is None else line)
    written.append("\n")
    return "".join(written)


class _Layout:
    """The columns of a table: of each its heading, its width and whether it holds numbers; and the gap between them."""

    def __init__(self, headings: Sequence[str], widths: Sequence[int], are_numbers: Sequence[bool], gap: int) -> None:
        self._columns = list(zip(headings, widths, are_numbers, strict=True))
        self._gap = gap

    def line(self, row: Sequence[str], between: str) -> str | None:
        """A row as Rich draws it, far quicker; None where a cell needs several lines or has odd characters."""
        cells = []
        for cell, (_, width, _) in zip(row, self._columns, strict=True):
            rest = width - cell_width([cell])
            if rest < 0 or not cell.isprintable():
                return None
            cells.append(f"{cell}{' ' * rest}")
        return f"{' ' * self._gap}{between}".join(cells) + "\n"

    def with_rows(self, rows: Iterable[Sequence[str]], *, headed: bool = True) -> Table:
        """A table of Rich's."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, show_header=headed)
        table.show_edge, table.pad_edge, table.padding = False, False, (0, self._gap, 0, 0)
        for heading, width, is_number in self._columns:
            table.add_column(heading, justify="right" if is_number else "left", width=width, overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell, justify="left") for cell in row))
        return table


def _drawn(console: Console, what: RenderableType) -> str:
    with console.capture() as written:
        console.print(what)
    return written.get()


def _short_cells(rows: Sequence[Row], column: str) -> list[str]:
    found = cells(rows, column)
    return found if is_number_column(rows, column) else [short(text) for text in found]
