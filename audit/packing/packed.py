"""What packing has made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from audit.output.errors import Problem


@dataclass(frozen=True, slots=True)
class Packed:
    """A pack, or a folder of packs, and what it was made from; `problems` and `notes` are as in a store.

    `packs` is how many were written; with `--append`, `runs`, `files` and sizes are of what was added.
    """

    path: Path
    runs: int
    files: int
    files_as_they_are: int
    size_before: int
    size_after: int
    problems: Sequence[Problem]
    notes: Sequence[str]
    packs: int = 1
