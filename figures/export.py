"""Tables as files: Markdown, LaTeX and HTML for people, CSV for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pandas as pd

from audit.escaping import escape_latex
from audit.formats import write_csv
from figures.page import render_table
from figures.tables import Table

# What LaTeX's text fonts lack.
_MATHS: Final = str.maketrans({"±": r"$\pm$", "Δ": r"$\Delta$", "–": "--"})


def export(table: Table, facts: pd.DataFrame, folder: Path) -> None:
    """Write one table in every format, named after its stem.

    Markdown, LaTeX and HTML are rounded and carry caption and note. CSV has the unrounded rows under their keys; having
    no caption, it says in two columns of its own with which backend and model each row's records were made.

    Raises:
        OSError: a file cannot be written.
    """
    writers: dict[str, Callable[[Table], str]] = {"md": markdown, "tex": latex, "html": render_table}
    for ending, write in writers.items():
        (folder / f"{table.stem}.{ending}").write_text(write(table), encoding="utf-8")
    _write_csv(table, facts, folder / f"{table.stem}.csv")


def markdown(table: Table) -> str:
    """A pipe table under its caption."""
    heading = _pipes([column.heading for column in table.columns])
    rule = _pipes(["---:" if column.numeric else "---" for column in table.columns])
    rows = [_pipes([_unpiped(column.read(row)) for column in table.columns]) for row in table.rows]
    return "\n".join([f"**{table.title}.** {table.caption} *{table.note}*", "", heading, rule, *rows, ""])


def latex(table: Table) -> str:
    """A floating table that needs the booktabs package."""
    alignment = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [" & ".join(_escaped(column.read(row)) for column in table.columns) + r" \\" for row in table.rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            r"\footnotesize",
            rf"\caption{{\textbf{{{_escaped(table.title)}.}} {_escaped(table.caption)} {_escaped(table.note)}}}",
            rf"\label{{tab:{table.stem}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            " & ".join(_escaped(column.heading) for column in table.columns) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _write_csv(table: Table, facts: pd.DataFrame, path: Path) -> None:
    made_with = {str(condition): _distinct(group) for condition, group in facts.groupby("condition")}
    unknown = dict.fromkeys(("backend", "model"))
    rows = [{**row, **made_with.get(row["condition"], unknown)} for row in table.rows]
    columns = list(rows[0]) if rows else ["condition", *unknown]
    with path.open("w", encoding="utf-8", newline="") as file:
        write_csv(columns, rows, file)


def _distinct(facts: pd.DataFrame) -> Mapping[str, str]:
    return {key: "; ".join(sorted({str(value) for value in facts[key].dropna()})) for key in ("backend", "model")}


def _pipes(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _unpiped(cell: str) -> str:
    return cell.replace("|", r"\|").replace("\n", " ")


def _escaped(words: str) -> str:
    return escape_latex(words).translate(_MATHS)
