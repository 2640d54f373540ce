"""Queries of users."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Unpack

from audit.models.catalog import public, schema
from audit.models.plain_types import plain
from audit.models.users_sql import refusing
from audit.options import Analysis, Data, options_of
from audit.output.errors import UsageError
from audit.output.escaping import visible
from audit.output.rows import Table
from audit.records.remote import is_url
from audit.reports.tables import table_of

WIDEST: Final = 60
"""Characters of a text that a table for people shows; the other formats have all."""


def query_of(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """Separate folders and archives from the query after them: the last argument, unless it is a path.

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
    return paths, query


def sql(data: Data, query: str, *, plan: str | Path | Sequence[str | Path] = (), **keywords: Unpack[Analysis]) -> Table:
    """The result of one SELECT over the relations of the analysis; nothing else can be read.

    Args:
        data: records.
        query: in DuckDB's SQL.
        plan: experiments to read as well: the file of a plan or several.
        keywords: how records are opened and classified.

    Raises:
        UsageError: the query is not a single SELECT over the relations.
    """
    options = options_of(data, Analysis, keywords)
    plans = [Path(file) for file in ([plan] if isinstance(plan, str | Path) else plan)]
    if plans and options.store is not None:
        raise UsageError("the store is open already; give plan to audit.open")
    options = replace(options, plans=plans)
    with contextlib.ExitStack() as resources:
        store = resources.enter_context(options.open())
        if options.store is None:
            store.build(query)
            store.relation("run_records")
            store.confine()
        with refusing():
            answer = plain(store.sql(query))
        caption = options.caption(store)
        notes = [caption] if caption else []
        table = table_of(answer, store, is_users=True, caption=caption, notes=notes, plain=True, longest_text=WIDEST)
        resources.pop_all()
    return table


def relations() -> Table:
    """Which relations there are, what a row of each is, and its columns."""
    listed = [
        {"relation": name, "row": schema()[name]["row"], "columns": list(schema()[name]["columns"])}
        for name in public()
    ]
    return Table(
        columns=("relation", "row", "columns"),
        rows=listed,
        title='A row is … ("describe RELATION" lists the columns)',
        essential=("relation", "row"),
        plain=True,
    )


def _exists(path: str) -> bool:
    try:
        return is_url(path) or (bool(path) and Path(path).exists())
    except (OSError, ValueError):  # too long for a path, or with a null byte
        return False
