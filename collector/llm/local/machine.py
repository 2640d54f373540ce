"""Whether this machine can run a model: what is refused here would otherwise end the process without a word."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Final

from collector.errors import ModelError
from collector.system.memory import address_space

NEEDED: Final = ("avx", "avx2", "f16c", "fma", "bmi2")
"""Instructions that the published builds for x86-64 use unconditionally."""
BESIDES: Final = 200_000_000
"""Bytes that llama.cpp needs besides weights and context: its buffers for computing."""
CPU: Final = Path("/proc/cpuinfo")
MEMORY: Final = Path("/proc/meminfo")


def check_instructions() -> None:
    """Refuse a processor on which the build would end with an illegal instruction.

    Raises:
        ModelError: it lacks some.
    """
    if platform.machine().lower() not in {"x86_64", "amd64"} or not sys.platform.startswith("linux"):
        return
    flags = _field(CPU, "flags")
    missing = [name for name in NEEDED if flags and name not in flags.split()]
    if missing:
        raise ModelError(
            f"this processor lacks the instructions {', '.join(missing)}, which the published build of xllamacpp uses; "
            "build xllamacpp from source, or ask a server with --backend ollama or openai"
        )


def check_memory(needed: int) -> None:
    """Refuse a model that does not fit into memory.

    Args:
        needed: bytes of weights and context.

    Raises:
        ModelError: there is too little.
    """
    free = _field(MEMORY, "MemAvailable").split()
    available = min(int(free[0]) * 1024 if free else sys.maxsize, address_space())
    if needed + BESIDES > available:
        raise ModelError(
            f"the model needs about {(needed + BESIDES) / 1e9:.1f} GB of memory, and there are {available / 1e9:.1f} GB; "
            "give a smaller --num-ctx, run fewer at once with --concurrency, or choose a smaller model"
        )


def _field(path: Path, name: str) -> str:
    """The first value of that name in a file of `/proc`; empty where there is none."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return ""
    values = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in values if key.strip() == name), "")
