"""The ways to attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Part:
    """A way to attack: the module of that name has `attempt(trial)`; a thing tried is a `unit`."""

    module: str
    title: str
    unit: str
    share: float


PARTS: Final = {
    "records": Part("records", "mutated records against a strict reading", "records", 3.0),
    "readers": Part("readers", "every reading command on mutated records", "commands", 3.0),
    "kills": Part("kills", "commands that write, killed at any moment", "kills", 3.0),
    "cuts": Part("cuts", "power cuts while commands write", "cuts", 2.0),
    "servers": Part("servers", "faults of a model's server", "replies", 2.0),
    "lines": Part("lines", "random command lines", "command lines", 3.0),
    "names": Part("names", "odd names and texts in every output", "outputs", 1.5),
    "processes": Part("processes", "processes killed under a command, and signals", "processes", 2.0),
}
