"""DuckDB's progress bar: drawn on standard output, among the rows, where a query takes long."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def without_progress_bar(connection: duckdb.DuckDBPyConnection) -> None:
    """Turn a connection's progress bar off."""
    import duckdb

    with contextlib.suppress(duckdb.InvalidInputException):  # in Jupyter without ipywidgets there is none
        connection.execute("set enable_progress_bar = false")
