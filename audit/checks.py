"""Finds record lines that cannot be used, and names each by file and line.

DuckDB reads all files at once and in parallel, and says which of them hold anything suspicious; only those are read a
second time, one by one and in order, to learn the line numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import duckdb
import msgspec

from audit.database import Database
from audit.sources.intake import Intake, RecordFile

LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes; DuckDB's default for the largest JSON object, far above any answer."""

Identity = tuple[Any, ...]


def find_defects(intake: Intake, database: Database) -> None:
    """Report every line with a defect, and every iteration after the first of the same identity.

    The files that `lines` reads afterwards hold no repeated iteration; lines with defects remain, and are left out by
    the relation `episodes`.
    """
    _point_at(intake.files, intake, database)
    try:
        suspects = _suspects(database)
    except duckdb.InvalidInputException:
        # One line too long stops DuckDB altogether, whatever file it is in.
        intake.files = [file for file in intake.files if not _too_long(file, intake)]
        _point_at(intake.files, intake, database)
        suspects = _suspects(database)
    if suspects:
        intake.files = list(_examined(intake, database, suspects))
        _point_at(intake.files, intake, database)


def _suspects(database: Database) -> set[str]:
    return {file for (file,) in database.relation("suspects").fetchall()}


def _point_at(files: list[RecordFile], intake: Intake, database: Database) -> None:
    """Make `lines` read these files and no others."""
    nothing = intake.write("nothing.jsonl", [])
    database.set("episode_files", [file.file for file in files] or [str(nothing)])
    database.set("record_file_list", str(intake.write("record_files.jsonl", files)))


def _examined(intake: Intake, database: Database, suspects: set[str]) -> Iterator[RecordFile]:
    """The files to go on with: suspicious ones are reported on, and lose the iterations that stand elsewhere."""
    seen: set[Identity] = set()
    for file in intake.files:
        repeated: set[int] = set()
        if file.file in suspects:
            _point_at([file], intake, database)
            repeated = _report(file, database, seen, intake)
        if not repeated:
            yield file
        else:
            yield from _without(file, repeated, intake)


def _report(file: RecordFile, database: Database, seen: set[Identity], intake: Intake) -> set[int]:
    """Name what is wrong in one file; the result is the places (0 the first record) of repeated iterations."""
    defects: dict[int, tuple[str, str | None]] = {}
    repeated: set[int] = set()
    query = database.relation("records").select("ordinal, condition, env, variant, run, iteration, defect, origin")
    for ordinal, *identity, defect, origin in query.iter_rows():
        key = tuple(identity)
        if defect is not None:
            defects[ordinal - 1] = (defect, origin)
        elif key in seen:
            repeated.add(ordinal - 1)
            said = "iteration {4} of run {3} of {1} {2} ({0}) stands in an earlier line too".format(*key)
            defects[ordinal - 1] = (said, origin)
        else:
            seen.add(key)
    places = _places(Path(file.file), defects)
    for place, (defect, origin) in sorted(defects.items()):
        number, line = places.get(place, (place + 1, b""))
        reason = _why_unreadable(line) if defect == "not a record" else defect
        if origin is None:
            intake.problem(file.label, number, f"{reason}; left out")
        else:
            intake.problem(origin, None, f"{reason}; left out")
    return repeated


def _records(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that DuckDB counts as records, which blank ones are not, with their numbers."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line


def _places(path: Path, wanted: dict[int, Any]) -> dict[int, tuple[int, bytes]]:
    if not wanted:
        return {}
    records = enumerate(islice(_records(path), max(wanted) + 1))
    return {place: found for place, found in records if place in wanted}


def _why_unreadable(line: bytes) -> str:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if not line.endswith(b"\n"):
            return "torn: the line breaks off, as after a power loss or while it is being written"
        return f"not JSON ({error})"
    return "not a record: none of its fields are there"


def _without(file: RecordFile, places: set[int], intake: Intake) -> list[RecordFile]:
    """A copy of a file that lacks some records; nothing where none are left."""
    copy = intake.new_file("kept")
    kept = 0
    with copy.open("wb") as stream:
        for place, (_, line) in enumerate(_records(Path(file.file))):
            if place not in places:
                stream.write(line if line.endswith(b"\n") else line + b"\n")
                kept += 1
    return [msgspec.structs.replace(file, file=str(copy))] if kept else []


def _too_long(file: RecordFile, intake: Intake) -> bool:
    try:
        number = next((number for number, line in _records(Path(file.file)) if len(line) > LONGEST_LINE), None)
    except OSError as error:
        intake.problem(file.label, None, f"cannot be read ({error.strerror}); left out")
        return True
    if number is not None:
        intake.problem(file.label, number, "the line is longer than 16 MiB; the file is left out")
    return number is not None
