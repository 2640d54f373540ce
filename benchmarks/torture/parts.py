"""The ways to attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Part:
    """A way to attack: `attempt(trial)` of its module tries things, each a `unit`, for a `share` of the time."""

    module: str
    title: str
    unit: str
    share: float


PARTS: Final = {
    "records": Part("benchmarks.torture.records", "mutated records against a strict reading", "records", 3.0),
    "readers": Part("benchmarks.torture.readers", "every reading command on mutated records", "commands", 3.0),
    "kills": Part("benchmarks.torture.kills", "commands that write, killed at any moment", "kills", 3.0),
    "cuts": Part("benchmarks.torture.cuts", "power cuts while commands write", "cuts", 2.0),
    "servers": Part("benchmarks.torture.servers", "faults of a model's server", "replies", 2.0),
    "lines": Part("benchmarks.torture.lines", "random command lines", "command lines", 3.0),
    "names": Part("benchmarks.torture.names", "odd names and texts in every output", "outputs", 1.5),
    "processes": Part(
        "benchmarks.torture.processes", "processes killed under a command, and signals", "processes", 2.0
    ),
    "workers": Part("benchmarks.torture.workers", "Ray and local workers killed, and their command", "kills", 2.0),
}
