"""Tables as files: Markdown, LaTeX and HTML for people, CSV for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from audit.output.escaping import escape_markdown
from audit.output.formats import write_csv
from figures.page.latex import latex
from figures.page.page import render_table
from figures.tables import Column, Row, Table


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
