"""How much memory DuckDB may use."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

from audit.output.errors import AuditError, UsageError
from collector.system.memory import address_space, shortage

VARIABLE: Final = "SALIENCE_AUDIT_MEMORY"
"""Environment variable with another limit, such as 500MB or 8GB."""
MOST: Final = 2 * 10**9
"""Bytes that are enough for any number of records: what does not fit is kept in the temporary folder."""

_LEAST: Final = 1.75e9
"""Bytes of address space without which DuckDB, NumPy and SciPy do not work together."""
_CGROUP: Final = Path("/sys/fs/cgroup/memory.max")


def require_memory() -> None:
    """See that the libraries have the address space without which they crash.

    Raises:
        AuditError: `ulimit -v` leaves too little.
    """
    if problem := shortage(_LEAST):
        raise AuditError(problem)


def memory_limit() -> str:
    """The limit as DuckDB takes it: what the environment says, else 2 GB or half of the machine's memory.

    Raises:
        UsageError: the environment's value is no size.
    """
    said = os.environ.get(VARIABLE, "").strip()
    if not said:
        return f"{min(MOST, _memory() // 2)}B"
    if not re.fullmatch(r"\d+(\.\d+)?\s*([KMGT]i?)?B", said, re.IGNORECASE):
        raise UsageError(f"{VARIABLE}={said}: give a size such as 500MB or 4GB")
    return said


def _memory() -> int:
    """Bytes of memory that this process can have."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        whole = 2 * MOST
    with contextlib.suppress(OSError, ValueError):  # no control groups, or no limit in them
        whole = min(whole, int(_CGROUP.read_text()))
    return int(min(whole, address_space()))
