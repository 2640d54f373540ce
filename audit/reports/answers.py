"""From a query on the command line to its rows on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.engine.catalog import public, schema
from audit.engine.interrupting import rows
from audit.engine.plain_types import plain
from audit.engine.queries import refusing
from audit.output.errors import UsageError
from audit.output.escaping import visible
from audit.output.formats import WRITERS, Row, as_json
from audit.output.rows import LONGEST_TABLE
from audit.output.tables import print_plain_table
from audit.reports.relation import simulated_caption
from audit.request import Request, note

if TYPE_CHECKING:
    import duckdb

    from audit.store import Store

WIDEST: Final = 60
"""Characters of a text that a table for people shows; the other formats have all."""


def query_of(arguments: Sequence[str]) -> tuple[list[Path], str | None]:
    """Tell folders and archives from the query behind them, which the last argument is unless it is a path.

    Raises:
        UsageError: there is a query and no path, or a path that is not there.
    """
    *paths, last = arguments
    query = None if _exists(last) else last
    if query is None:
        paths.append(last)
    elif not paths:
        raise UsageError(f'{visible(last)}: no such folder or archive; write audit sql DIR "select …"')
    absent = next((path for path in paths if not _exists(path)), None)
    if absent is not None:
        raise UsageError(
            f"{visible(absent)}: no such folder or archive; the query is one argument, in quotes, and the last"
        )
    return [Path(path) for path in paths], query


def print_answer(request: Request, query: str) -> None:
    """Run one SELECT over the relations and print what it gives, in the format that was asked for."""
    with request.open() as store:
        store.confine()
        answer = plain_rows(store, query)
        caption = simulated_caption(request, store)
        if caption:
            note(caption)
        stream = rows(answer, store)
        if request.output == "table":
            _print_for_people(answer.columns, stream, caption)
        elif request.output == "json":
            WRITERS["json"](answer.columns, stream, sys.stdout, caption)
        else:
            WRITERS[request.output](answer.columns, _flat(stream), sys.stdout, caption)


def plain_rows(store: Store, query: str) -> duckdb.DuckDBPyRelation:
    """What a query gives, in values that every format can write; it is not run yet.

    Raises:
        UsageError: the query is no single SELECT over the relations.
    """
    with refusing():
        return plain(store.sql(query))


def print_relations(output: str) -> None:
    """Print which relations there are, what a row of each is, and its columns."""
    listed = [
        {"relation": name, "row": schema()[name]["row"], "columns": list(schema()[name]["columns"])}
        for name in public()
    ]
    if output == "table":
        short = [{key: row[key] for key in ("relation", "row")} for row in listed]
        print_plain_table(["relation", "row"], short, 'A row is … ("describe RELATION" tells the columns)')
    else:
        WRITERS[output](["relation", "row", "columns"], listed, sys.stdout, None)


def _print_for_people(columns: Sequence[str], stream: Iterator[Row], caption: str | None) -> None:
    shown: list[Row] = []
    shortened = False
    more = False
    for row in _flat(stream):
        if len(shown) == LONGEST_TABLE:
            more = True
            break
        cells = {column: _cell(value) for column, value in row.items()}
        shortened = shortened or any(cells[column] != value for column, value in row.items())
        shown.append(cells)
    notes = [caption] if caption else []
    if shortened:
        notes.append(f"Texts beyond {WIDEST} characters are cut; the other formats have all.")
    if more:
        notes.append(f"The first {LONGEST_TABLE} rows; the other formats have all.")
    print_plain_table(columns, shown, None, "\n".join(notes) or None)


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    line = visible(value).replace("\n", "\\n").replace("\t", "\\t")
    return line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}…"


def _flat(stream: Iterator[Row]) -> Iterator[Row]:
    """Rows for formats that know no objects: these become JSON, and so do lists of lists."""
    for row in stream:
        yield {column: as_json(value) if _is_nested(value) else value for column, value in row.items()}


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value))


def _exists(path: str) -> bool:
    try:
        return bool(path) and Path(path).exists()
    except (OSError, ValueError):  # too long for a path, or with a null byte
        return False
