"""Rows of a query that Ctrl-C can stop: DuckDB does not listen for it while it computes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import duckdb

    from audit.store import Store

BATCH: Final = 1000
PAUSE: Final = 0.05
"""Seconds between two attempts to stop a query."""


def rows(relation: duckdb.DuckDBPyRelation, store: Store) -> Iterator[dict[str, Any]]:
    """The rows as dicts, a batch at a time.

    The query runs in a thread of its own, so that this one hears of Ctrl-C and can stop it.

    Args:
        relation: a query, whose columns have different names.
        store: it is over.

    Raises:
        KeyboardInterrupt: after Ctrl-C, once the query has stopped.
    """
    columns = relation.columns
    with ThreadPoolExecutor(1) as worker:
        worker.submit(int).result()  # from here on there is a thread, and whatever is asked of it can be waited for
        try:
            stream = worker.submit(relation.iter_rows)
            while found := worker.submit(lambda: list(islice(stream.result(), BATCH))).result():
                for row in found:
                    yield dict(zip(columns, row, strict=True))
        except KeyboardInterrupt:
            # Again and again: a query that has not begun yet does not remember that it was to stop.
            last = worker.submit(int)
            while not last.done():
                store.interrupt()
                wait([last], timeout=PAUSE)
            raise
