"""Which columns of a table answer its question, and which of them a narrow table has room for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from audit.output.formats import Row, is_number_column

LEAST_TEXT: Final = 24
"""Characters that a column of text keeps at least, if its texts are as long; beyond, they are broken into lines."""

DECIDING: Final = frozenset(
    {
        # What was found, and how sure it is.
        *("verdict", "holm_p", "p", "p_adjusted", "strict"),
        # Differences.
        *("gap", "delta", "mean_delta", "difference", "difference_pct", "effect", "estimate"),
        *("risk_ratio", "probability_of_improvement", "mean_luck", "best_luck", "harm avoided", "validation_gain"),
        # The two sides of a difference.
        *("reference_mean", "baseline_mean", "mean_with", "mean_without", "regressions", "control_regressions"),
        *("citing_regressions", "citing_improvements", "citing_regressions_pct", "citing_improvements_pct"),
        *("regressions_citing_pct", "regressions_not_citing_pct", "strict_untied_pct"),
        *("expected_pooled", "beyond_noise", "strict_beyond_noise", "improvements", "significant", "r0", "r1"),
        # Values that are the answer.
        *("mean_return", "best_return", "final_return", "iqm", "share", "pct", "answers", "validation", "kept"),
        *("precision", "recall", "kappa", "references_worst", "rollouts", "supported", "text"),
    }
)
"""Columns that no table for people leaves out, however narrow it is."""

KEYS: Final = frozenset(
    {
        *("env", "variant", "baseline", "run", "iteration", "rank", "candidate", "outcome", "aspect", "factor"),
        *("start", "degree", "structure", "pattern", "threshold", "value", "kind", "topic", "command", "name", "arm"),
        *("control", "section", "remedy", "share", "number", "coder", "column", "detector", "personality", "quantity"),
    }
)
"""Columns that say what a row is of."""


def keys(columns: Sequence[str]) -> list[str]:
    """The columns that a table begins with and that say what a row is of; the first one at least."""
    number = next((place for place, column in enumerate(columns) if column not in KEYS), len(columns) - 1)
    return list(columns[: max(number, 1)])


def by_importance(columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Columns in the order in which a narrow table keeps them.

    Columns that identify rows come first, then those that decide. Where numbers have intervals, texts and these come
    right behind, then p-values; counts without a percentage come behind all others. Without intervals, the other
    columns stay in their order. Columns without any value come last.
    """
    filled = [column for column in columns if _any(rows, column)]
    order = [*keys(filled), *(column for column in filled if column in DECIDING)]
    bounded = [column for column in filled if _any(rows, f"{column}_low", f"{column}_high")]
    if bounded:
        order += [column for column in filled if not is_number_column(rows, column)]
        order += sorted(bounded, key=lambda column: _any(rows, f"{column}_pct"))  # shares last
        order += [column for column in filled if column.endswith("_p")]
        order += [column for column in filled if not _is_count(rows, column)]
    return list(dict.fromkeys([*order, *filled, *columns]))


def columns_that_fit(
    columns: Sequence[str],
    more: Sequence[str],
    rows: Sequence[Row],
    cells: Mapping[str, Sequence[str]],
    widths: Mapping[str, int],
    space: int,
    *,
    decides: Sequence[str] | None = None,
    is_titled: bool = False,
) -> tuple[list[dict[str, int]], list[str]]:
    """Choose columns that fit into a line, in as many tables below each other as those that decide need.

    A column that does not fit makes way for a less important one that does. Texts get what numbers leave of the line.

    Args:
        columns: as they are shown.
        more: columns that are added, in their order, where all of `columns` have the width that they need.
        rows: of the table.
        cells: of each column.
        widths: characters that each column needs.
        space: characters of a line, which a table exceeds only for a single column beside those that identify rows.
        decides: columns that are never left out; None for those of `DECIDING`.
        is_titled: whether a column that identifies rows may move to the title where all rows share its value.

    Returns:
        For each table its columns in the order in which they are shown, each with its width; and the columns that
        move to the title.
    """
    numbers = {column for column in cells if is_number_column(rows, column)}
    least = {column: width if column in numbers else min(width, LEAST_TEXT) for column, width in widths.items()}
    shared = []
    if is_titled and _line(least, columns) > space:
        shared = [column for column in keys(columns) if len(set(cells[column])) == 1]
        columns = [column for column in columns if column not in shared]
    order, first = by_importance(columns, rows), keys(columns)
    wanted = [
        column
        for column in columns
        if (column in DECIDING and _any(rows, column) if decides is None else column in decides)
    ]
    chosen = [_that_fit(order, least, space)]
    if not set(wanted) <= {*chosen[0]}:
        chosen = []
        for column in wanted:
            if column not in first:
                if not chosen or _line(least, [*chosen[-1], column]) > space:
                    chosen.append([*first])
                chosen[-1].append(column)
    chosen = chosen or [order[:1]]
    tables: list[dict[str, int]] = []
    for table in chosen:
        for column in order:
            if column not in chain(*chosen) and _line(least, [*table, column]) <= space:
                table.append(column)
        left = max(space - _line(least, table), 0)
        tables.append({})
        for column in (column for column in columns if column in table):
            tables[-1][column] = min(widths[column], least[column] + left)
            left -= tables[-1][column] - least[column]
    if all(tables[0].get(column) == widths[column] for column in columns):
        for column in more:
            # Others are no help if they are empty, or the same text in every row.
            is_telling = len({text for text in cells[column] if text.strip()}) > (column not in numbers)
            # A table that has more than it needs has two blanks between columns.
            if is_telling and _line(widths, [*tables[0], column], blanks=2) <= space:
                tables[0][column] = widths[column]
    return tables, shared


def _that_fit(order: Sequence[str], widths: Mapping[str, int], space: int) -> list[str]:
    """The columns of one table, the first ones before others; the very first one whatever its width."""
    found: list[str] = []
    for column in order:
        if not found or _line(widths, [*found, column]) <= space:
            found.append(column)
    return found


def _line(widths: Mapping[str, int], columns: Collection[str], blanks: int = 1) -> int:
    """Characters of a line that has some columns, with so many blanks between each two."""
    return sum(widths[column] for column in columns) + blanks * (len(columns) - 1)


def _is_count(rows: Sequence[Row], column: str) -> bool:
    return not _any(rows, f"{column}_pct") and all(isinstance(row[column], int | None) for row in rows)


def _any(rows: Iterable[Row], *columns: str) -> bool:
    return any(row.get(column) is not None for row in rows for column in columns)
