"""What lies beside the records that an audit reads: files of run folders that it never opens, and grids of sweeps."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from audit.sources.files import Found, find_files
from audit.sources.intake import Intake
from collector.records import RecordError
from collector.records.grids import Grid, decode_grid
from collector.system.regular_files import RUN
from collector.system.stopping import temporary_folder

BESIDE: Final = {"calls": "calls.jsonl", "truth": "truth.jsonl"}
"""Files of a run folder that no audit opens; only whether they exist is of interest here."""

_GRID: Final = re.compile(r"grid-([0-9a-f]{12})\.json")


@dataclass(slots=True)
class Beside:
    """What was found.

    Attributes:
        folders: of each name in `BESIDE`, the labels of the folders with such a file.
        grids: by the name of their file, which their content decides; each once, however many folders have it.
        damaged: grids that cannot be used, as lines that state why.
    """

    folders: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in BESIDE})
    grids: dict[str, Grid] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)


def look_beside(paths: Sequence[Path]) -> Beside:
    """Go through the names of all files below some paths, and read the grids among them."""
    names = {file: name for name, file in BESIDE.items()}
    beside = Beside()

    def look(found: Found) -> None:
        if found.name in names:
            beside.folders[names[found.name]].add(folder_of(found.label))
        elif match := _GRID.fullmatch(found.name):
            try:
                beside.grids[found.name.removesuffix(".json")] = _grid(found.read(RUN), match[1])
            except (OSError, RecordError) as error:
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                beside.damaged.append(f"{found.label}: {reason}; left out")

    _walk(paths, look)
    return beside


def _grid(data: bytes, digest: str) -> Grid:
    if hashlib.sha256(data).hexdigest()[: len(digest)] != digest:
        raise RecordError("its content is not what its name states: cut off, or changed")
    return decode_grid(data)


def folder_of(label: str) -> str:
    """The folder that a file is in, by their labels."""
    return label.rpartition("/")[0]


def contradictory(paths: Sequence[Path], copies: Sequence[Collection[str]]) -> list[bool | None]:
    """Whether copies of runs differ in an iteration that several have, wall-clock times aside.

    Args:
        paths: where the copies are.
        copies: of each run, the labels of its files of iterations.

    Returns:
        One of each run: None where fewer than two copies are files of their own, as in packs, which may share a run.
    """
    run_of = {label: run for run, labels in enumerate(copies) for label in labels}
    known: list[dict[object, bytes]] = [{} for _ in copies]
    differ = [False] * len(copies)
    seen = [0] * len(copies)

    def look(found: Found) -> None:
        run = run_of.get(found.label)
        if run is not None:
            seen[run] += 1
            for iteration, digest in _iterations(found):
                differ[run] |= known[run].setdefault(iteration, digest) != digest

    _walk(paths, look)
    return [each if number > 1 else None for each, number in zip(differ, seen, strict=True)]


def _iterations(found: Found) -> Iterator[tuple[object, bytes]]:
    """The number of each iteration in a file, and a digest of all that is not a time."""
    try:
        with found.open() as stream:
            for line in stream:
                try:
                    record = msgspec.json.decode(line)
                    iteration = int(record.pop("iteration"))
                    record.pop("seconds", None)
                except (msgspec.DecodeError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
                    continue  # it is reported where records are read
                yield iteration, hashlib.sha256(msgspec.json.encode(record, order="deterministic")).digest()
    except OSError:
        return


def _walk(paths: Sequence[Path], look: Callable[[Found], None]) -> None:
    """Call a function with every file below some paths, in an archive while it can be read."""
    with temporary_folder() as directory:
        for path in paths:
            for found in find_files(path, Intake(directory)):
                look(found)
