"""Rows of a query that Ctrl-C can stop: DuckDB does not check for it while it computes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

    import duckdb

Result = TypeVar("Result")

BATCH: Final = 1000
PAUSE: Final = 0.05
"""Seconds between two checks of a query's state, and between two attempts to stop it."""


class Interruptible(Protocol):
    """Where a query runs."""

    def interrupt(self) -> None:
        """Stop the query that runs in another thread."""


def rows(relation: duckdb.DuckDBPyRelation, store: Interruptible) -> Iterator[dict[str, Any]]:
    """The rows as dicts: see `values`."""
    columns = relation.columns
    return (dict(zip(columns, row, strict=True)) for row in values(relation, store))


def values(relation: duckdb.DuckDBPyRelation, store: Interruptible) -> Iterator[tuple[Any, ...]]:
    """The rows, a batch at a time.

    The query runs in a thread of its own, so that this one receives Ctrl-C and can stop it.

    Args:
        relation: a query, whose columns have different names.
        store: where the query runs.

    Raises:
        KeyboardInterrupt: after Ctrl-C, once the query has stopped.
    """
    with ThreadPoolExecutor(1) as worker:
        result_of(worker.submit(int))  # from here on the thread exists, and its work can be waited for
        try:
            stream = worker.submit(relation.iter_rows)
            while found := result_of(worker.submit(lambda: list(islice(stream.result(), BATCH)))):
                yield from found
        except KeyboardInterrupt:
            # Repeatedly: an interrupt has no effect on a query that has not begun yet.
            last = worker.submit(int)
            while not last.done():
                store.interrupt()
                wait([last], timeout=PAUSE)
            raise


def result_of(future: Future[Result]) -> Result:
    """The result of a future, waited for in short intervals.

    A signal that arrives just as a thread goes to sleep does not wake it, so a wait without end could miss Ctrl-C.
    """
    while not future.done():
        wait([future], timeout=PAUSE)
    return future.result()
