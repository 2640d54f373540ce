"""Tables in LaTeX, with the rules of booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from audit.output.escaping import escape_latex
from figures.style import TAU
from figures.tables import Column, Row, Table

BOOKTABS: Final = r"\usepackage{booktabs}"
GRAPHICX: Final = r"\usepackage{graphicx}"
XCOLOR: Final = r"\usepackage[table]{xcolor}"
_FITTING: Final = (
    r"\resizebox*{!}{\ifdim\totalheight>0.75\textheight 0.75\textheight\else\totalheight\fi}{%",
    r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
)
"""Scales what would be wider than a line of text or higher than a page, and nothing else."""
_SHADING: Final = (
    r"\providecolor{bestcolor}{HTML}{DCEBF5}",
    r"\providecommand{\bestcell}[1]{\cellcolor{bestcolor}\textbf{#1}}",
)


def latex(table: Table) -> str:
    """A table that floats; the first line names the packages it needs."""
    shaded = any(column.is_best(row) for column in table.columns for row in table.rows)
    alignment = "".join("r" if column.numeric else "l" for column in table.columns)
    return "\n".join(
        [
            f"% Needs {', '.join([BOOKTABS, GRAPHICX, *[XCOLOR] * shaded])}.",
            *[*_SHADING] * shaded,
            r"\begin{table}",
            r"\centering",
            r"\footnotesize",
            _caption(table),
            r"\medskip",
            "",
            *_FITTING,
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            " & ".join(_escaped(column.heading) for column in table.columns) + r" \\",
            r"\midrule",
            *(line for row in table.rows for line in _lines(table, row)),
            r"\bottomrule",
            r"\end{tabular}}}",
            r"\end{table}",
            "",
        ]
    )


def _caption(table: Table) -> str:
    words = rf"\textbf{{{_escaped(table.title)}.}} {_escaped(table.caption)} {_escaped(table.note)}"
    return rf"\caption{{{words}}}\label{{tab:{table.stem}}}"


def _escaped(words: str) -> str:
    """Words as LaTeX sets them, τ_c as mathematics."""
    return escape_latex(words).replace(escape_latex(TAU), r"$\tau_c$")


def _lines(table: Table, row: Row) -> Iterator[str]:
    """A row, and under it what is beside its cells, in small print."""
    cells = [_cell(column, row) for column in table.columns]
    beside = [_words(column, column.beside(row)) for column in table.columns]
    yield " & ".join(cells) + (r" \\[-2pt]" if any(beside) else r" \\")
    if any(beside):
        yield " & ".join(rf"{{\tiny {words}}}" if words else "" for words in beside) + r" \\[2pt]"


def _cell(column: Column, row: Row) -> str:
    words = _words(column, column.read(row))
    return rf"\bestcell{{{words}}}" if column.is_best(row) else words


def _words(column: Column, words: str) -> str:
    """The words of a cell. Before a number a hyphen is a minus sign; one within a word or an exponent stays."""
    escaped = _escaped(words)
    return re.sub(r"(?<![\w.)])-(?=\d)", r"$-$", escaped) if column.numeric else escaped
