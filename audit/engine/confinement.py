"""Confines a database: what its relations are read from can be read, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import duckdb

from audit.remote.ranges import SCHEME

CONFINED: Final = (
    "enable_external_access = false",
    "lock_configuration = true",
)
"""Settings under which untrusted SQL may run; the last one makes them final."""


def confine(connection: duckdb.DuckDBPyConnection, files: Sequence[str], directory: Path) -> None:
    """Restrict a database, for good, to some files and a directory, without network, and lock all its settings.

    Args:
        connection: of the database.
        files: what it may read, as it names them.
        directory: for temporary files.
    """
    connection.execute(
        "set allowed_paths = ?",
        [[file if file.startswith(f"{SCHEME}://") else str(Path(file).absolute()) for file in files]],
    )
    connection.execute("set allowed_directories = ?", [[str(directory)]])
    for setting in CONFINED:
        connection.execute(f"set {setting}")
