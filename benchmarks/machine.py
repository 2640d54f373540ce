"""Facts about the machine that a measurement was made on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from collector.system.cores import cores


def machine() -> dict[str, object]:
    """Processor, cores, memory, and versions of what the speed depends on."""
    names = [
        line.partition(":")[2].strip() for line in _read("/proc/cpuinfo").splitlines() if line.startswith("model name")
    ]
    return {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": cores(),
        "memory": f"{_memory():.0f} GB",
        "system": platform.platform(),
        "python": platform.python_version(),
        **{package: version(package) for package in ("numpy", "numba", "gymnasium", "mujoco", "duckdb", "pandas")},
    }


def _memory() -> float:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return float("nan")


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
