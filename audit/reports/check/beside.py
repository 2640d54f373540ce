"""Files of run folders beside the records, which an audit never opens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from audit.records.locating import find_files, locate
from audit.records.unpacking import unpack
from collector.system.stopping import temporary_folder

BESIDE: Final = {"calls": "calls.jsonl", "truth": "truth.jsonl"}
"""Files of a run folder that no audit opens; only whether they exist is of interest here."""


def look_beside(paths: Sequence[str | Path]) -> dict[str, set[str]]:
    """Of each name in `BESIDE`, the labels of the folders below some paths with such a file."""
    names = {file: name for name, file in BESIDE.items()}
    folders: dict[str, set[str]] = {name: set() for name in BESIDE}
    with temporary_folder() as directory:
        for path in paths:
            located = locate(path)
            root = unpack(located, directory)[0] if located.is_archive else located.path
            for found in find_files(located, root, [], []):
                if found.name in names:
                    folders[names[found.name]].add(folder_of(found.label))
    return folders


def folder_of(label: str) -> str:
    """The folder that a file is in, by their labels."""
    return label.rpartition("/")[0]
