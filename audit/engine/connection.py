"""The connection to DuckDB that relations are built by: how it is made, and how it is confined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from audit.engine.memory import memory_limit
from audit.engine.quiet import without_progress_bar


def connect(directory: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory, which neither draws nor downloads anything.

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
    return connection


def confine(connection: duckdb.DuckDBPyConnection, files: Sequence[str], directory: Path) -> None:
    """Restrict a database, for good, to some files and a directory, without network, and lock all its settings.

    Args:
        connection: of the database.
        files: what it may read, as it names them.
        directory: for temporary files.
    """
    connection.execute("set allowed_paths = ?", [[str(Path(file).absolute()) for file in files]])
    connection.execute("set allowed_directories = ?", [[str(directory)]])
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
