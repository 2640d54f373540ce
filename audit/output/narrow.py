"""How a table is arranged in lines of a known width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from audit.output.fitting import fitting, narrowest, stacked
from audit.output.formats import Row, is_number_column
from audit.output.importance import by_importance, deciding, keys


class Arrangement(NamedTuple):
    """The tables that a result is printed as, below each other, and what all its rows share.

    Attributes:
        tables: of each the columns with their widths.
        shared: columns that have one value in all rows and stand in the title, with that value.
    """

    tables: list[dict[str, int]]
    shared: dict[str, str]


def arranged(
    columns: Sequence[str],
    more: Sequence[str],
    headings: Mapping[str, str],
    parts: Sequence[tuple[Sequence[Row], Mapping[str, list[str]]]],
    room: int,
    *,
    decides: Sequence[str] | None = None,
    titled: bool = False,
) -> Arrangement:
    """Choose columns that fit, and break a table into several before a column is left out that decides.

    Args:
        columns: the essential ones as they are shown.
        more: those that are printed too where there is room.
        headings: of all columns.
        parts: rows with their cells, for each part of the result.
        room: characters of a line.
        decides: columns that are never left out; None for those of `DECIDING`.
        titled: whether a column that identifies rows may move to the title where all rows share its value.
    """
    rows = [row for some, _ in parts for row in some]
    cells = {column: [text for _, part in parts for text in part[column]] for column in (*columns, *more)}
    widths = {column: cell_width([*texts, *headings[column].split()]) for column, texts in cells.items()}
    texts = [column for column in cells if not any(is_number_column(some, column) for some, _ in parts)]
    shared: dict[str, str] = {}
    least = narrowest(widths, texts)
    if titled and sum(least[column] + 1 for column in columns) > room + 1:
        shared = {column: cells[column][0] for column in keys(columns) if len(set(cells[column])) == 1}
        columns = [column for column in columns if column not in shared]
    # Others are no help if they are empty, or the same text in every row.
    telling = [column for column in more if len({text for text in cells[column] if text.strip()}) > (column in texts)]
    order = by_importance(columns, rows)
    chosen = fitting(columns, telling, widths, texts, room, order)
    wanted = [column for column in columns if column in (deciding(columns, rows) if decides is None else decides)]
    if all(column in chosen for column in wanted):
        return Arrangement([chosen], shared)
    tables = stacked(order, keys(columns), wanted, widths, texts, room)
    return Arrangement([{each: table[each] for each in columns if each in table} for table in tables], shared)


def cell_width(texts: Sequence[str]) -> int:
    """The cells of a terminal that the longest of some texts takes."""
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=1)
