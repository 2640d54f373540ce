"""Files of run folders beside the records, which an audit never opens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from audit.sources.files import find_files
from audit.sources.intake import Intake
from collector.system.stopping import temporary_folder

BESIDE: Final = {"calls": "calls.jsonl", "truth": "truth.jsonl"}
"""Files of a run folder that no audit opens; only whether they exist is of interest here."""


def look_beside(paths: Sequence[Path]) -> dict[str, set[str]]:
    """Of each name in `BESIDE`, the labels of the folders below some paths with such a file."""
    names = {file: name for name, file in BESIDE.items()}
    folders: dict[str, set[str]] = {name: set() for name in BESIDE}
    with temporary_folder() as directory:
        for path in paths:
            for found in find_files(path, Intake(directory)):
                if found.name in names:
                    folders[names[found.name]].add(folder_of(found.label))
    return folders


def folder_of(label: str) -> str:
    """The folder that a file is in, by their labels."""
    return label.rpartition("/")[0]
