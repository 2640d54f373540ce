"""Looks at record files line by line, to name what is wrong in them by line number.

Only files that are known to hold something suspicious come here: reading in order takes time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from audit.database import Database
from audit.sources.intake import LONGEST_LINE, Intake, RecordFile

NOT_A_RECORD: Final = "not a record"
"""What the relation `records` says of a line without a single field of a record."""


class Fault(msgspec.Struct, frozen=True):
    """Something in a record file that is left out.

    `line` counts from 1, None for the whole file. `origin` is where a translated record comes from, whose line nobody
    but the translator knows; else None.
    """

    line: int | None
    message: str
    origin: str | None = None


class _Defect(NamedTuple):
    """Why a record cannot be used; `origin` as in `Fault`."""

    reason: str
    origin: str | None


def find_faults(
    files: Sequence[RecordFile], intake: Intake, database: Database, *, together: bool = False
) -> list[list[Fault]]:
    """Go through files line by line and say what is wrong in each.

    Args:
        files: lines of JSON, native or translated.
        intake: has room for lists.
        database: reads the lines.
        together: an iteration that an earlier one of these files has is a fault as well; otherwise only one that an
            earlier line of the same file has.
    """
    point_at(files, intake, database)
    defects = _defects(database, together=together)
    return [list(_faults(Path(file.file), defects[file.file])) for file in files]


def without(faults: Sequence[Fault], path: Path, copy: Path) -> None:
    """Copy a file without the lines that are at fault."""
    left_out = {fault.line for fault in faults}
    with copy.open("wb") as stream:
        stream.writelines(line for number, line in _records(path) if number not in left_out)


def too_long(file: RecordFile) -> Fault | None:
    """What is to be said of a file that holds a line too long for DuckDB, or cannot be read; None for any other."""
    try:
        number = next((number for number, line in _records(Path(file.file)) if len(line) > LONGEST_LINE), None)
    except OSError as error:
        return Fault(None, f"cannot be read ({error.strerror}); left out")
    return None if number is None else Fault(number, "the line is longer than 16 MiB; the file is left out")


def point_at(files: Sequence[RecordFile], intake: Intake, database: Database) -> None:
    """Make `lines` and `records` read these files and no others."""
    nothing = intake.write("nothing.jsonl", [])
    rows = (
        {
            "file": file.file,
            "place": place,
            "condition": file.condition,
            "env": file.env,
            "variant": file.variant,
            "run": file.run,
            "source": file.source,
        }
        for place, file in enumerate(files, start=1)
    )
    database.set("line_files", [Path(file.file) for file in files] or [nothing])
    database.set("line_file_list", intake.write("line_files.jsonl", rows))


def _defects(database: Database, *, together: bool) -> dict[str, dict[int, _Defect]]:
    """What is wrong, by file and position among its records (0 the first)."""
    found: dict[str, dict[int, _Defect]] = defaultdict(dict)
    positions: Counter[str] = Counter()
    seen: set[tuple[Any, ...]] = set()
    query = database.relation("records").select(
        "ordinal, file, defect, origin, condition, env, variant, run, iteration"
    )
    for _, file, defect, origin, *identity in query.iter_rows():
        position = positions[file]
        positions[file] += 1
        key = (None if together else file, *identity)
        if defect is not None:
            found[file][position] = _Defect(defect, origin)
        elif key in seen:
            condition, env, variant, run, iteration = identity
            said = f"iteration {iteration} of run {run} ({condition}, {env}, {variant}) stands in an earlier line too"
            found[file][position] = _Defect(said, origin)
        else:
            seen.add(key)
    return found


def _faults(path: Path, defects: dict[int, _Defect]) -> Iterator[Fault]:
    for position, (number, line) in enumerate(_records(path)):
        if position in defects:
            reason, origin = defects[position]
            yield Fault(number, f"{_why_unreadable(line) if reason == NOT_A_RECORD else reason}; left out", origin)


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
