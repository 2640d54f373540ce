"""The processor cores that are available."""

from __future__ import annotations

import os

_most: int | None = None


def limit_cores(most: int | None) -> None:
    """Have `cores` answer so many at most, in a process that shares its machine with others; None for no limit."""
    global _most  # noqa: PLW0603
    _most = most


def cores() -> int:
    """Cores that this process may use."""
    return min(_available(), _most or _available())


def _available() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
