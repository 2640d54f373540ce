"""Writes one pack of what has been read."""

from __future__ import annotations

import base64
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path

import msgspec

from audit.engine.carried import carried_at
from audit.engine.database import SMALL, Database
from audit.ingest.cache import Cache
from audit.ingest.checks import point_at, size_of
from audit.ingest.readings import Readings
from audit.ingest.version import version
from audit.output.errors import Problem
from audit.packing.findings import joined, write_findings
from audit.sources.intake import CarriedFindings, Intake, RecordFile
from audit.sources.pack import Contents, PackedFile, PackedRun, PackedSkips, rules


def write_pack(
    path: Path,
    intake: Intake,
    database: Database,
    readings: Readings,
    cache: Cache | None,
    *,
    problems: Sequence[Problem],
    level: str,
) -> int:
    """Write a pack, all of it to the disk.

    Args:
        path: the file.
        intake: the records.
        database: which they were read into.
        readings: where in it they are.
        cache: holds what was found before.
        problems: those found before the records were read; theirs are found again in every audit.
        level: how much of what is found in them the pack carries.

    Returns:
        How many files it holds as they are, line by line.
    """
    in_columns = [file for file in intake.files if readings[file].is_plain]
    as_they_are = [file for file in intake.files if not readings[file].is_plain]
    places = {file: place for place, file in enumerate([*in_columns, *as_they_are], start=1)}
    columns = carried_at(level) if in_columns else []
    with contextlib.ExitStack() as resources:
        _show_files(in_columns, intake, database, readings)
        found = write_findings(intake, readings, cache, level, resources) if columns else {}
        for column, file in found.items():
            database.set(column, file)
        findings = CarriedFindings(version(), [each.column for each in columns]) if columns else None
        contents = _contents(intake, places, len(in_columns), problems, findings)
        database.set("raw_lines", intake.write("raw_lines.jsonl", _raw_lines(as_they_are, places)))
        database.set("contents", msgspec.json.encode(contents).decode())
        database.write_query(joined(columns), path, level=SMALL)
    _to_disk(path)
    return len(as_they_are)


def _show_files(files: Sequence[RecordFile], intake: Intake, database: Database, readings: Readings) -> None:
    """Make `packed` read these files, from columns wherever those have the order of lines."""
    unordered = set(database.relation("unordered_files").fetchall())
    if any((readings[file].segment, readings[file].place) in unordered for file in files):
        point_at(files, intake, database)
        database.stand_in("packed_records", "packed_lines")
    rows = (
        {"segment": readings[file].segment, "segment_place": readings[file].place, "place": place}
        for place, file in enumerate(files, start=1)
    )
    database.set("packed_files", intake.write("packed_files.jsonl", rows))


def _raw_lines(files: Sequence[RecordFile], places: Mapping[RecordFile, int]) -> Iterator[dict[str, object]]:
    for file in files:
        with Path(file.file).open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                yield {"place": places[file], "number": number, "line": base64.b64encode(line).decode()}


def _contents(
    intake: Intake,
    places: Mapping[RecordFile, int],
    in_columns: int,
    problems: Sequence[Problem],
    findings: CarriedFindings | None,
) -> Contents:
    runs = {identity: index for index, identity in enumerate(intake.runs)}
    return Contents(
        made_by=_program_version(),
        rules=rules(),
        runs=[
            PackedRun(described=intake.described[identity]) if identity in intake.described else PackedRun(facts=facts)
            for identity, facts in intake.runs.items()
        ],
        files=[
            PackedFile(
                label=file.label,
                run=runs[file.identity],
                place=places[file],
                is_raw=places[file] > in_columns,
                size=size_of(file),
            )
            for file in intake.files
        ],
        problems=list(problems),
        logged_returns=[msgspec.json.decode(line) for line in intake.logged_returns.read_bytes().splitlines()],
        skipped=[PackedSkips(run=runs[key], iterations=sorted(found)) for key, found in intake.skipped.items()],
        findings=findings,
    )


def _program_version() -> str:
    try:
        return version_of("salience-audit")
    except PackageNotFoundError:  # run from a source tree
        return "unknown"


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
