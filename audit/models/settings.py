"""Settings of DuckDB: how much memory it may use, and that it draws no progress bar."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from audit.output.errors import AuditError, UsageError
from collector.system.memory import address_space, shortage

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

VARIABLE: Final = "SALIENCE_AUDIT_MEMORY"
"""Environment variable with another limit, such as 500MB or 8GB."""
MOST: Final = 2 * 10**9
"""Bytes that suffice for any number of records: DuckDB spills the rest to the temporary folder."""
SORTING: Final = 640 * 2**20
"""The same for sorting a table of all that is known of revisions; of a million it would be 2 GB."""

_LEAST: Final = 1.75e9
"""Bytes of address space that DuckDB, NumPy and SciPy need together."""
_CGROUP: Final = Path("/sys/fs/cgroup/memory.max")


def require_memory() -> None:
    """Check that there is enough address space for the libraries, which crash otherwise.

    Raises:
        AuditError: `ulimit -v` leaves too little.
    """
    if problem := shortage(_LEAST):
        raise AuditError(problem)


def memory_limit(most: int = MOST) -> str:
    """The limit as DuckDB takes it: from the environment, else 2 GB or half of the machine's memory.

    Args:
        most: bytes, in place of the 2 GB.

    Raises:
        UsageError: the environment's value is not a size.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return f"{min(most, _memory() // 2)}B"
    if not re.fullmatch(r"\d+(\.\d+)?\s*([KMGT]i?)?B", given, re.IGNORECASE):
        raise UsageError(f"{VARIABLE}={given}: give a size such as 500MB or 4GB")
    return given


@contextlib.contextmanager
def bounded(connection: DuckDBPyConnection, most: int) -> Iterator[None]:
    """Within the block a database uses so many bytes at most, unless it uses more already, or is confined."""
    import duckdb

    try:
        connection.execute(f"set memory_limit = '{memory_limit(most)}'")
    except duckdb.Error:
        most = 0
    try:
        yield
    finally:
        if most:
            connection.execute(f"set memory_limit = '{memory_limit()}'")


def without_progress_bar(connection: DuckDBPyConnection) -> None:
    """Turn off the progress bar, which is drawn on standard output, among the rows, where a query takes long."""
    import duckdb

    with contextlib.suppress(duckdb.InvalidInputException):  # in Jupyter without ipywidgets there is none
        connection.execute("set enable_progress_bar = false")


def _memory() -> int:
    """Bytes of memory that this process can have."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        whole = 2 * MOST
    with contextlib.suppress(OSError, ValueError):  # no control groups, or no limit in them
        whole = min(whole, int(_CGROUP.read_text()))
    return int(min(whole, address_space()))
