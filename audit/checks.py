"""Finds record lines that cannot be used, names each by file and line, and takes them out of what is read.

DuckDB reads all files at once and in parallel, and says which of them hold anything suspicious; only those are read a
second time, in order, to learn the line numbers, and copied without the lines in question.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb
import msgspec

from audit.database import Database
from audit.sources.intake import Intake, RecordFile

LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes; DuckDB's default for the largest JSON object, far above any answer."""

NOT_A_RECORD: Final = "not a record"
"""What the relation `records` says of a line without a single field of a record."""


class Defect(NamedTuple):
    """Why a record cannot be used; `origin` is where a translated one comes from, else None."""

    reason: str
    origin: str | None


def find_defects(intake: Intake, database: Database) -> None:
    """Report every line with a defect, and every iteration after the first of the same identity.

    The files that `lines` reads afterwards hold neither.
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
        _point_at([file for file in intake.files if file.file in suspects], intake, database)
        defects = _defects(database)
        intake.files = [kept for file in intake.files for kept in _sound(file, defects.get(file.file, {}), intake)]
        _point_at(intake.files, intake, database)


def _suspects(database: Database) -> set[str]:
    return {file for (file,) in database.relation("suspects").fetchall()}


def _point_at(files: list[RecordFile], intake: Intake, database: Database) -> None:
    """Make `lines` read these files and no others."""
    nothing = intake.write("nothing.jsonl", [])
    database.set("episode_files", [file.file for file in files] or [str(nothing)])
    database.set("record_file_list", str(intake.write("record_files.jsonl", files)))


def _defects(database: Database) -> dict[str, dict[int, Defect]]:
    """What is wrong, by file and place among its records (0 the first)."""
    found: dict[str, dict[int, Defect]] = defaultdict(dict)
    places: Counter[str] = Counter()
    seen: set[tuple[Any, ...]] = set()
    query = database.relation("records").select(
        "ordinal, file, defect, origin, condition, env, variant, run, iteration"
    )
    for _, file, defect, origin, *values in query.iter_rows():
        place, identity = places[file], tuple(values)
        places[file] += 1
        if defect is not None:
            found[file][place] = Defect(defect, origin)
        elif identity in seen:
            condition, env, variant, run, iteration = identity
            said = f"iteration {iteration} of run {run} ({condition}, {env}, {variant}) stands in an earlier line too"
            found[file][place] = Defect(said, origin)
        else:
            seen.add(identity)
    return found


def _sound(file: RecordFile, defects: dict[int, Defect], intake: Intake) -> Iterator[RecordFile]:
    """Name what is wrong in a file; the result is the file, or a copy without it, or nothing if nothing is left."""
    if not defects:
        yield file
        return
    copy = intake.new_file("kept")
    kept = 0
    with copy.open("wb") as stream:
        for place, (number, line) in enumerate(_records(Path(file.file))):
            if place in defects:
                _report(file, number, line, defects[place], intake)
            else:
                stream.write(line if line.endswith(b"\n") else line + b"\n")
                kept += 1
    if kept:
        yield msgspec.structs.replace(file, file=str(copy))


def _report(file: RecordFile, number: int, line: bytes, defect: Defect, intake: Intake) -> None:
    reason = _why_unreadable(line) if defect.reason == NOT_A_RECORD else defect.reason
    if defect.origin is None:
        intake.problem(file.label, number, f"{reason}; left out")
    else:
        intake.problem(defect.origin, None, f"{reason}; left out")


def _records(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that DuckDB counts as records, which blank ones are not, with their numbers."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line


def _why_unreadable(line: bytes) -> str:
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if not line.endswith(b"\n"):
            return "torn: the line breaks off, as after a power loss or while it is being written"
        return f"not JSON ({error})"
    if isinstance(record, dict) and "initial" in record:
        return "not JSON that can be read (half of a surrogate pair in a text, perhaps)"
    return "not a record: none of its fields are there"


def _too_long(file: RecordFile, intake: Intake) -> bool:
    try:
        number = next((number for number, line in _records(Path(file.file)) if len(line) > LONGEST_LINE), None)
    except OSError as error:
        intake.problem(file.label, None, f"cannot be read ({error.strerror}); left out")
        return True
    if number is not None:
        intake.problem(file.label, number, "the line is longer than 16 MiB; the file is left out")
    return number is not None
