"""Reads record files line by line: names what is wrong by line number, and writes what is sound once more.

Only files with lines in another form than `collect` writes are read this way, since it is slow.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from audit.engine.database import Database
from audit.ingest.readings import Fault
from audit.sources.formats import CAPABILITIES, is_translated
from audit.sources.grammar import LINE_FORMS, form_of
from audit.sources.intake import Intake, RecordFile
from collector.records import LONGEST_LINE, RecordError, decode, encode, split_thinking

BLANK: Final = b" \t\r\n"
"""White space of JSON: nothing else may be outside of a record."""


TOO_LONG: Final = "the line is longer than 16 MiB"


class Sifted(NamedTuple):
    """The sound records of a file as a file of their own, and what is wrong with the others."""

    sound: RecordFile
    faults: list[Fault]


class _Draft(NamedTuple):
    """The lines of a file that its record type accepts, their numbers, and what is wrong with the others."""

    accepted: RecordFile
    numbers: list[int]
    faults: list[Fault]


class _Defect(NamedTuple):
    """Why an accepted record cannot be used; `origin` as in `Fault`."""

    reason: str
    origin: str | None


def sift(
    files: Sequence[RecordFile], intake: Intake, database: Database, *, together: bool = False
) -> dict[RecordFile, Sifted]:
    """Go through files line by line.

    Args:
        files: lines of JSON, native or translated.
        intake: has room for copies.
        database: checks what a record's type alone cannot.
        together: an iteration that an earlier one of these files has is a fault as well; otherwise only one that an
            earlier line of the same file has.
    """
    drafts = {file: _draft(file, intake) for file in files}
    point_at([draft.accepted for draft in drafts.values()], intake, database, are_accepted=True)
    defects = _defects(database, together=together)
    return {file: _judged(draft, defects[draft.accepted.file], intake) for file, draft in drafts.items()}


def has_too_long_line(file: RecordFile) -> bool:
    """Whether a file holds a line too long for DuckDB, or cannot be read."""
    try:
        return any(line is None for _, line in lines_in(Path(file.file)))
    except OSError:
        return True


def point_at(files: Sequence[RecordFile], intake: Intake, database: Database, *, are_accepted: bool = False) -> None:
    """Make `lines` and `records` read these files and no others.

    Args:
        files: in the order of their places.
        intake: has room for their list.
        database: reads them.
        are_accepted: whether the record types have accepted every line already.
    """
    nothing = intake.write("nothing.jsonl", [])
    rows = (
        {
            "file": file.file,
            "place": place,
            "bytes": size_of(file),
            "is_accepted": are_accepted,
            "condition": file.condition,
            "env": file.env,
            "variant": file.variant,
            "run": file.run,
            "source": file.source,
        }
        for place, file in enumerate(files, start=1)
    )
    forms = set() if are_accepted else {CAPABILITIES[file.source].lines for file in files}
    for form, variable in LINE_FORMS.items():  # an expression that is set takes time, whether it is used or not
        database.set(variable, form_of(form).expression if form in forms else "")
    database.set("line_files", [Path(file.file) for file in files] or [nothing])
    database.set("line_file_list", intake.write("line_files.jsonl", rows))


def lines_in(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """The lines that are not blank with their numbers, from 1; None for one that is too long."""
    with path.open("rb") as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                while line and not line.endswith(b"\n"):
                    line = stream.readline(LONGEST_LINE)
                yield number, None
            elif line.strip(BLANK):
                yield number, line


def size_of(file: RecordFile) -> int:
    """Bytes of a file, 0 where it is gone."""
    try:
        return Path(file.file).stat().st_size
    except OSError:
        return 0


def _draft(file: RecordFile, intake: Intake) -> _Draft:
    path = intake.new_file("accepted")
    kind = CAPABILITIES[file.source].lines
    numbers: list[int] = []
    faults: list[Fault] = []
    with path.open("wb") as copy:
        try:
            for number, line in lines_in(Path(file.file)):
                try:
                    copy.write(_plain(line, kind))
                    numbers.append(number)
                except RecordError as error:
                    faults.append(Fault(number, f"{error}; left out", _origin(line, file)))
        except OSError as error:
            faults.append(Fault(None, f"cannot be read ({error.strerror}); left out"))
    return _Draft(msgspec.structs.replace(file, file=str(path)), numbers, faults)


def _plain(line: bytes | None, kind: type[msgspec.Struct]) -> bytes:
    """A line as `collect` would write it."""
    if line is None:
        raise RecordError(TOO_LONG)
    if not line.endswith(b"\n") and not _is_json(line):
        raise RecordError("torn: the line breaks off, as after a power loss or while it is being written")
    plain = encode(_without_thinking(decode(line, kind)))
    if len(plain) > LONGEST_LINE:
        raise RecordError(TOO_LONG)
    return plain


def _without_thinking(record: Any) -> Any:
    """A record whose answers hold no thinking."""
    return msgspec.structs.replace(record, **{role: _apart(getattr(record, role)) for role in ("initial", "revised")})


def _apart(candidate: Any) -> Any:
    """A candidate, or None, with its thinking apart from its answer."""
    if candidate is None or not candidate.answer:
        return candidate
    given = candidate.thinking or None  # it may be left out
    texts = getattr(candidate, "text", None) or {}
    answer, thinking = split_thinking(candidate.answer, given, proposed=texts.values())
    if answer == candidate.answer:
        return candidate
    return msgspec.structs.replace(candidate, answer=answer, thinking=thinking)


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except msgspec.ValidationError:  # a number that no type here can hold
        return True
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _origin(line: bytes | None, file: RecordFile) -> str | None:
    """Where a translated record comes from; its line is this program's own, and JSON."""
    if line is None or not is_translated(file.source):
        return None
    origin: str = msgspec.json.decode(line)["origin"]
    return origin


def _defects(database: Database, *, together: bool) -> dict[str, dict[int, _Defect]]:
    """What is wrong, by file and position among its records (0 the first)."""
    found: dict[str, dict[int, _Defect]] = defaultdict(dict)
    positions: Counter[str] = Counter()
    seen: set[tuple[Any, ...]] = set()
    query = (
        database.relation("records")
        .select("ordinal, file, defect, origin, condition, env, variant, run, iteration")
        .order("ordinal")
    )
    for _, file, defect, origin, *identity in query.iter_rows():
        position = positions[file]
        positions[file] += 1
        key = (None if together else file, *identity)
        if defect is not None:
            found[file][position] = _Defect(defect, origin)
        elif key in seen:
            condition, env, variant, run, iteration = identity
            reason = f"iteration {iteration} of run {run} ({condition}, {env}, {variant}) is in an earlier line too"
            found[file][position] = _Defect(reason, origin)
        else:
            seen.add(key)
    return found


def _judged(draft: _Draft, defects: dict[int, _Defect], intake: Intake) -> Sifted:
    more = [
        Fault(draft.numbers[position], f"{defect.reason}; left out", defect.origin)
        for position, defect in defects.items()
    ]
    faults = sorted([*draft.faults, *more], key=lambda fault: fault.line or 0)
    return Sifted(_without(defects, draft.accepted, intake) if defects else draft.accepted, faults)


def _without(positions: Collection[int], file: RecordFile, intake: Intake) -> RecordFile:
    path = intake.new_file("sound")
    with Path(file.file).open("rb") as stream, path.open("wb") as copy:
        copy.writelines(line for position, line in enumerate(stream) if position not in positions)
    return msgspec.structs.replace(file, file=str(path))
