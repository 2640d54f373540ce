"""Tables as files: Markdown, LaTeX and HTML for people, CSV for programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pandas as pd

from audit.output.escaping import escape_latex, escape_markdown
from audit.output.formats import write_csv
from figures.page.page import render_table
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


def export(table: Table, facts: pd.DataFrame, folder: Path) -> None:
    """Write one table in every format, named after its stem.

    Markdown, LaTeX and HTML are rounded and carry caption and note. CSV has the unrounded rows under their keys; having
    no caption, it states in two columns of its own with which backend and model each row's records were made.

    Raises:
        OSError: a file cannot be written.
    """
    writers: dict[str, Callable[[Table], str]] = {"md": markdown, "tex": latex, "html": render_table}
    for ending, write in writers.items():
        (folder / f"{table.stem}.{ending}").write_text(write(table), encoding="utf-8")
    _write_csv(table, facts, folder / f"{table.stem}.csv")


def retract(stem: str, folder: Path) -> None:
    """Remove the files of a table that earlier records filled and these do not, which would be taken for theirs.

    Raises:
        OSError: a file cannot be removed.
    """
    for ending in ("md", "tex", "html", "csv"):
        (folder / f"{stem}.{ending}").unlink(missing_ok=True)


def markdown(table: Table) -> str:
    """A pipe table under its caption."""
    heading = _pipes([column.heading for column in table.columns])
    rule = _pipes(["---:" if column.numeric else "---" for column in table.columns])
    rows = [_pipes([_marked(column, row) for column in table.columns]) for row in table.rows]
    return "\n".join(
        [f"**{table.title}.** {table.caption} *{escape_markdown(table.note)}*", "", heading, rule, *rows, ""]
    )


def _marked(column: Column, row: Row) -> str:
    words, beside = escape_markdown(column.read(row)), escape_markdown(column.beside(row))
    words = f"**{words}**" if column.is_best(row) else words
    return f"{words} [{beside}]" if beside else words


def _write_csv(table: Table, facts: pd.DataFrame, path: Path) -> None:
    made_with = {str(condition): _distinct(group) for condition, group in facts.groupby("condition")}
    unknown = dict.fromkeys(("backend", "model"))
    data = table.rows if table.data is None else table.data
    of_records = not data or "condition" in data[0]
    rows = [
        {**row, **(made_with.get(row.get("records") or row["condition"], unknown) if of_records else {})}
        for row in data
    ]
    columns = list(rows[0]) if rows else ["condition", *unknown]
    with path.open("w", encoding="utf-8", newline="") as file:
        write_csv(columns, rows, file)


def _distinct(facts: pd.DataFrame) -> Mapping[str, str]:
    return {key: "; ".join(sorted({str(value) for value in facts[key].dropna()})) for key in ("backend", "model")}


def _pipes(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
