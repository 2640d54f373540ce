"""SQL in the page: one SELECT over the relations, with nothing else in reach, as `audit sql` runs it."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import duckdb

from audit.engine.catalog import public, schema
from audit.engine.plain_types import plain
from audit.engine.queries import refusing
from audit.output.errors import UsageError
from audit.output.escaping import visible

if TYPE_CHECKING:
    from audit.viewer.session import Session

MOST: Final = 5_000
"""Rows that are sent."""
SECONDS: Final = 30.0
"""After which a query is stopped."""
LONGEST: Final = 10_000
"""Characters of a query."""

_one = threading.Lock()


def relations() -> dict[str, Any]:
    """The relations that may be asked for, what a row of each is, and its columns with their meaning."""
    return {
        "relations": [
            {"name": name, "row": schema()[name]["row"], "columns": schema()[name]["columns"]} for name in public()
        ]
    }


def query(session: Session, text: str) -> dict[str, Any]:
    """The result of one SELECT.

    It is run on records that are opened for it alone, and closed afterwards, so that what it is kept from reading the
    pages still can. One runs at a time.

    Returns:
        `columns`, `rows`, and whether there are `more` than are sent.

    Raises:
        UsageError: it is not a single SELECT over the relations, or was stopped.
    """
    if len(text) > LONGEST:
        raise UsageError(f"a query of {len(text):,} characters; {LONGEST:,} are the most")
    request = replace(session.request, store=None)
    with _one, contextlib.ExitStack() as resources:
        store, _ = request.suited()
        resources.enter_context(store)
        timer = threading.Timer(SECONDS, store.interrupt)
        timer.daemon = True
        resources.callback(timer.cancel)
        timer.start()
        try:
            store.build(text)
            store.relation("run_records")
            store.confine(read=False)
            with refusing():
                relation = plain(store.sql(text))
                columns = relation.columns
                rows = relation.limit(MOST + 1).fetchall()
        except duckdb.InterruptException:
            raise UsageError(f"stopped after {SECONDS:g} seconds") from None
    return {
        "columns": [visible(name) for name in columns],
        "rows": [[visible(value) if isinstance(value, str) else value for value in row] for row in rows[:MOST]],
        "more": len(rows) > MOST,
    }
