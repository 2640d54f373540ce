"""Rows of a query in batches, and rows into a file: so that texts never fill the memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    import duckdb

BATCH: Final = 1000
"""Rows that are read at once."""


def batches(rows: duckdb.DuckDBPyConnection, size: int = BATCH) -> Iterator[list[dict[str, Any]]]:
    """All rows of a query that was executed and not yet fetched, a list of up to `size` at a time."""
    columns = [column[0] for column in rows.description or ()]
    while batch := rows.fetchmany(size):
        yield [dict(zip(columns, row, strict=True)) for row in batch]


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a line of JSON for each row."""
    with path.open("wb") as file:
        file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)
