"""The connection to DuckDB that relations are built by."""

from __future__ import annotations

from pathlib import Path

import duckdb

from audit.engine.memory import memory_limit
from audit.engine.quiet import without_progress_bar
from audit.remote.ranges import attach


def connect(directory: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory, which reads packs by ranges and neither draws nor downloads anything.

    Args:
        directory: what the memory has no room for goes there.
    """
    connection = duckdb.connect(
        config={
            "memory_limit": memory_limit(),
            "temp_directory": str(directory / "spill"),
            # Otherwise DuckDB would look up an unknown relation among the program's own variables.
            "python_enable_replacements": "false",
            # Otherwise a name in SQL, such as of a function or a type, would download and run an extension.
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )
    without_progress_bar(connection)
    attach(connection)
    return connection
