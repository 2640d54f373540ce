"""Tables for people, in a terminal or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final, Literal

from audit.formats import Row, is_number_column, rounded

WIDTH: Final = 100
"""Characters that a caption is wrapped at where the output is no terminal and the table is no wider."""


def print_table(columns: Sequence[str], rows: Sequence[Row], *, title: str, caption: str | None = None) -> None:
    """Print rows with numbers rounded and to the right.

    A percentage stands in brackets behind the count that it belongs to (`regressions_pct` behind `regressions`), and
    a condition that all rows share stands in the title.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    conditions = {row.get("condition") for row in rows}
    if len(conditions) == 1 and "condition" in columns:
        title = f"{title}, condition {conditions.pop()}"
        columns = [column for column in columns if column != "condition"]
    columns = [column for column in columns if column.removesuffix("_pct") not in columns or not _is_pct(column)]
    cells = {column: [_cell(row, column) for row in rows] for column in columns}
    # As wide as needed and no wider: headings break between words, and no digit is ever cut off.
    widths = {column: max(map(len, [*cells[column], *column.split("_")])) for column in columns}
    console = Console(file=sys.stdout, highlight=False, markup=False)
    space = console.width if console.is_terminal else WIDTH
    tight = sum(widths.values()) + len(columns) + 1
    gap = 1 if tight + len(columns) <= space else 0
    console.width = max(space, tight)
    table = Table(title=title, caption=caption, box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left")
    table.show_edge, table.pad_edge, table.padding = False, False, (0, gap, 0, 0)
    for column in columns:
        side: Literal["left", "right"] = "right" if is_number_column(rows, column) else "left"
        table.add_column(column.replace("_", " "), justify=side, width=widths[column])
    for row in zip(*cells.values(), strict=True):
        table.add_row(*row)
    console.print(table)


def _is_pct(column: str) -> bool:
    return column.endswith("_pct")


def _cell(row: Row, column: str) -> str:
    text = rounded(row[column])
    share = row.get(f"{column}_pct")
    # The blank that does not break keeps a count and its share on one line.
    return text if share is None else f"{text}\u00a0({share:.3g}%)"
