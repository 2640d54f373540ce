"""Tables for a paper: headings in words, numbers as people read them, the rules of booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TextIO

from audit.output.cells import cells, plain_cells, unfolded
from audit.output.escaping import escape_latex, in_line
from audit.output.formats import Row, as_json, is_nested, is_number_column

if TYPE_CHECKING:
    from audit.output.printable import Printable

PROSE: Final = 60
"""A column with a longer text than so many characters is broken into lines."""

_WORDS: Final = {
    "env": "Task",
    "variant": "Method",
    "r0": "$r_0$",
    "r1": "$r_1$",
    "delta": r"$\Delta$",
    "mean_delta": r"Mean $\Delta$",
    "iqm": "IQM",
    "p": "$p$",
    "holm_p": "$p$ (Holm)",
}
"""Headings of columns whose names are no words."""

_MINUS: Final = re.compile(r"(?<!\w)-(?=\d)")


def write_latex(table: Printable, stream: TextIO) -> None:
    """Write a `tabular` with the rules of the booktabs package, with a caption as a comment above it.

    Columns that are folded into others are in brackets there, and a condition that all rows share is in the comment,
    unless the table is plain.
    """
    rows, columns = list(table.rows), table.essential or table.columns
    shown = list(columns) if table.plain else unfolded(columns)
    comment = [table.caption] if table.caption else []
    conditions = {row["condition"] for row in rows} if "condition" in shown and len(shown) > 1 else set()
    if len(conditions) == 1 and not (table.plain or table.whole):
        shown.remove("condition")
        comment.insert(0, f"Condition: {conditions.pop()}")
    stream.write("% Needs \\usepackage{booktabs}.\n")
    if comment:
        stream.write(f"% {in_line('; '.join(comment))}\n")
    alignment = "".join(_alignment(rows, column) for column in shown)
    stream.write(f"\\begin{{tabular}}{{{alignment}}}\n\\toprule\n")
    headings = map(escape_latex, shown) if table.plain else map(in_words, shown)
    stream.write(" & ".join(headings) + " \\\\\n\\midrule\n")
    for row in zip(*(_cells(rows, column, plain=table.plain) for column in shown), strict=True):
        stream.write(" & ".join(row) + " \\\\\n")
    stream.write("\\bottomrule\n\\end{tabular}\n")


def in_words(column: str) -> str:
    """The heading of a column in a paper, escaped: `regressions_pct` is Regressions (%)."""
    if column in _WORDS:
        return _WORDS[column]
    text = re.sub("_pct$", " (%)", column).replace("_", " ")
    return escape_latex(text[:1].upper() + text[1:])


def _alignment(rows: Sequence[Row], column: str) -> str:
    if is_number_column(rows, column):
        return "r"
    values = (as_json(row[column]) if is_nested(row[column]) else row[column] for row in rows)
    is_prose = any(isinstance(value, str) and len(value) > PROSE for value in values)
    return r"p{0.4\linewidth}" if is_prose else "l"


def _cells(rows: Sequence[Row], column: str, *, plain: bool) -> list[str]:
    texts = [escape_latex(text) for text in (plain_cells if plain else cells)(rows, column)]
    if not is_number_column(rows, column):
        return texts
    # All have as many decimals, so that to the right their points are below each other without blanks.
    return [_MINUS.sub("$-$", " ".join(text.split())) for text in texts]
