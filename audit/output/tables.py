"""Tables for people, in a terminal or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Final

from audit.output.cells import LONGEST_TEXT, ROUGH, ROUGH_NOTE, cells, plain_cells, short, unfolded
from audit.output.choosing import columns_that_fit
from audit.output.escaping import in_line
from audit.output.formats import Row, is_number_column

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod

    from audit.output.printable import Printable

WIDTH: Final = 100
"""Characters a line where no width is known; tables have all essential columns there, and wider ones exceed it."""

LEAST: Final = 20
"""Characters a line at least."""

LONGEST_TABLE: Final = 500
"""Rows that a table for people has at most; the other formats have all."""


def print_table(table: Printable) -> None:
    """Print rows with numbers rounded and their decimal points in line, a table per condition unless it is plain.

    A percentage is in brackets after the count that it belongs to: `regressions_pct` behind `regressions`; so does
    an interval, `risk_ratio_low` and `risk_ratio_high` behind `risk_ratio`. Headings are the columns' names, unless
    `headings` has a shorter one. Columns that do not fit into the terminal, or into `COLUMNS` characters where that
    variable is set, are left out and named below, the last ones first, but for what `by_importance` says of intervals
    and counts; where no width is known, none is left out. Columns that decide are never left out: where they do not
    fit, all columns are in several tables below each other.
    """
    from rich.console import Console

    # What is printed in Jupyter is text as well, not a display of Rich's own.
    console = Console(file=sys.stdout, force_jupyter=False)
    is_known = console.is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    space = max(console.width, LEAST) if is_known else WIDTH
    fits = is_known and not table.whole
    rows: list[Row] = list(islice(table.rows, LONGEST_TABLE))
    columns = list(table.essential or table.columns)
    more = [column for column in table.columns if column not in {*columns, "rough"}]
    parts = [(table.title, rows)]
    if not table.plain:
        more = [column for column in unfolded(more, columns) if column != "condition"]
        columns = [column for column in unfolded(columns) if column != "condition"] or columns
        conditions = dict.fromkeys(row["condition"] for row in rows)
        groups = {each: [row for row in rows if row["condition"] == each] for each in conditions}
        parts = [(f"{table.title}, condition {short(each)}", some) for each, some in groups.items()] or parts
    every = [*columns, *(more if fits else ())]
    shown = {column: in_line(column) if table.plain else column.replace("_", " ") for column in every}
    shown |= table.headings or {}
    longest = table.longest_text or (sys.maxsize if table.plain else LONGEST_TEXT)
    cells_of = plain_cells if table.plain else cells
    filled = [
        {column: [short(text, longest) for text in cells_of(some, column)] for column in every} for _, some in parts
    ]
    texts = {column: [text for part in filled for text in part[column]] for column in every}
    widths = {column: _width([*texts[column], *shown[column].split()]) for column in every}
    tables, shared = [widths], list[str]()
    if fits:
        is_titled = not table.plain
        tables, shared = columns_that_fit(
            columns, more, rows, texts, widths, space, decides=table.decides, is_titled=is_titled
        )
    same = "".join(f", {shown[column]} {texts[column][0].strip()}" for column in shared)
    written = []
    for (title, _), part in zip(parts, filled, strict=True):
        written += _lines(console, in_line(f"{title}{same}"), space) if title else []
        for each in tables:
            written += [*_drawn(console, shown, each, rows, part, space), ""]
    notes = list(_notes(table, rows, texts, {*shared, *chain(*tables)}, [*columns, *more]))
    written += [line for note in notes for line in _lines(console, in_line(note), space)]
    # Rich writes nothing itself: it takes a reader that closes the pipe, such as `head`, for a failure.
    sys.stdout.write("".join(f"{line}\n" for line in written))


def _notes(
    table: Printable,
    rows: Sequence[Row],
    texts: Mapping[str, Sequence[str]],
    found: Collection[str],
    every: Sequence[str],
) -> Iterator[str]:
    """Lines below a table: what readers must know, and what is left out."""
    if table.caption:
        yield from table.caption.split("\n")
    if any(len(text) == table.longest_text and text.endswith("…") for column in found for text in texts[column]):
        yield f"Texts beyond {table.longest_text} characters are cut; the other formats have all."
    if len(rows) == LONGEST_TABLE and len(table.rows) > LONGEST_TABLE:
        yield f"First {LONGEST_TABLE} of {len(table.rows)} rows; the other formats have all."
    if any(text.endswith(ROUGH) for column in found for text in texts[column]):
        yield ROUGH_NOTE
    # A column without any value is nothing to miss.
    missed = [column for column in every if column not in found and any(row[column] is not None for row in rows)]
    if missed:
        yield in_line(f"Left out: {', '.join(missed)}{'' if table.is_part else '; --columns has them'}.")
        if table.is_part:
            yield ""


def _drawn(
    console: Console,
    headings: Mapping[str, str],
    table: Mapping[str, int],
    rows: Sequence[Row],
    cells: Mapping[str, Sequence[str]],
    space: int,
) -> Iterator[str]:
    """The lines of a table. Headings and texts break between words, and no digit is ever cut off."""
    widths = list(table.values())
    blanks = "  " if sum(widths) + 2 * (len(widths) - 1) <= space else " "
    numbers = [is_number_column(rows, column) for column in table]
    header = [
        _lines(console, headings[column], width, "right" if is_number else "default")
        for (column, width), is_number in zip(table.items(), numbers, strict=True)
    ]
    height = max(map(len, header))
    yield from _beside([[""] * (height - len(lines)) + lines for lines in header], widths, blanks)
    yield ("-" if console.options.ascii_only else "─") * (sum(widths) + len(blanks) * (len(widths) - 1))
    for row in zip(*(cells[column] for column in table), strict=True):
        blocks = [
            [text.rjust(width)] if is_number else _lines(console, text, width)
            for text, width, is_number in zip(row, widths, numbers, strict=True)
        ]
        yield from _beside(blocks, widths, blanks)


def _beside(blocks: Sequence[Sequence[str]], widths: Sequence[int], blanks: str) -> Iterator[str]:
    """Texts of several lines each, joined line by line into the lines of one row."""
    from rich.cells import set_cell_size

    for line in zip_longest(*blocks, fillvalue=""):
        yield blanks.join(map(set_cell_size, line, widths))


def _lines(console: Console, text: str, width: int, justify: JustifyMethod = "default") -> list[str]:
    """A text in lines of a width; words that are longer are broken."""
    from rich.text import Text

    if len(text) <= width and text.isascii() and justify == "default":
        return [text]
    return [line.plain for line in Text(text).wrap(console, width, justify=justify, overflow="fold")]


def _width(texts: Sequence[str]) -> int:
    """The cells of a terminal that the longest of some texts takes."""
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=1)
