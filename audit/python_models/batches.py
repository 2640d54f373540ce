"""Rows of a query in batches, and rows into a file: so that texts never fill the memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from audit.python_models.workers import Function, on_all_cores
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb

    from audit.references import Shown

BATCH: Final = 1000
"""Rows that are read at once."""
ANSWERS: Final = 100
"""Answers that a process reads at once."""


def batches(rows: duckdb.DuckDBPyConnection, size: int = BATCH) -> Iterator[list[dict[str, Any]]]:
    """All rows of a query that was executed and not yet fetched, a list of up to `size` at a time."""
    columns = [column[0] for column in rows.description or ()]
    while batch := rows.fetchmany(size):
        yield [dict(zip(columns, row, strict=True)) for row in batch]


def identity(row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a row that say which revision it is of."""
    return {name: row[name] for name in RevisionKey._fields}


def evidence(revision: Mapping[str, Any]) -> Shown:
    """What the critic was shown for a revision."""
    from audit.references import Shown  # not while the processes that read answers start

    return Shown.of(
        revision["shown"],
        returns=revision["returns"],
        lengths=revision["lengths"],
        statistics=revision["statistics"],
        rounding=revision["rounding"],
    )


def lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """A line of JSON for each row."""
    return b"".join([msgspec.json.encode(row) + b"\n" for row in rows])


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a line of JSON for each row."""
    with path.open("wb") as file:
        file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)


def write_read(path: Path, rows: duckdb.DuckDBPyConnection, read: Function, size: int | None = None) -> None:
    """Write what a function of a module makes of rows, on all cores where there are many.

    Args:
        path: the file to write.
        rows: a query that was executed and not yet fetched.
        read: called with up to `size` rows; returns `lines`.
        size: by default `ANSWERS`, for rows with answers to read.
    """
    with path.open("wb") as file:
        file.writelines(on_all_cores(read, batches(rows, size or ANSWERS)))
