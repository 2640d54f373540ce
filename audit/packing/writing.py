"""Writes one pack of what has been read."""

from __future__ import annotations

import base64
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Final

import msgspec

from audit.engine.carried import carried_at
from audit.engine.database import QUICK, SMALL, Database
from audit.ingest.cache import Cache
from audit.ingest.checks import point_at, size_of
from audit.ingest.columns import batches_of
from audit.ingest.readings import Readings
from audit.ingest.version import findings_version
from audit.output.errors import Problem
from audit.packing.findings import joined, write_findings
from audit.remote.checksums import add_checksums
from audit.sources.intake import CarriedFindings, Intake, RecordFile
from audit.sources.pack import Contents, PackedFile, PackedRun, PackedSkips, rules

AT_ONCE: Final = 512 * 2**20
"""Bytes of JSON whose rows are sorted at once: so many fit into the memory."""


def write_pack(
    path: Path,
    intake: Intake,
    database: Database,
    readings: Readings,
    cache: Cache | None,
    *,
    problems: Sequence[Problem],
    level: str,
    sizes: Mapping[RecordFile, int] | None = None,
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
        sizes: bytes of the files that some of these continue, both together.

    Returns:
        How many files it holds as they are, line by line.
    """
    in_columns = [file for file in intake.files if readings[file].is_plain]
    as_they_are = [file for file in intake.files if not readings[file].is_plain]
    places = {file: place for place, file in enumerate([*in_columns, *as_they_are], start=1)}
    columns = carried_at(level) if in_columns else []
    with contextlib.ExitStack() as resources:
        found = write_findings(intake, readings, cache, level, resources) if columns else {}
        for column, file in found.items():
            database.set(column, file)
        findings = CarriedFindings(findings_version(), [each.column for each in columns]) if columns else None
        contents = _contents(intake, places, len(in_columns), problems, findings, sizes or {})
        database.set("contents", msgspec.json.encode(contents).decode())
        database.set("raw_lines", intake.write("raw_lines.jsonl", _raw_lines(as_they_are, places)))
        _write_rows(path, in_columns, intake, database, readings, joined(columns))
    add_checksums(path)
    _to_disk(path)
    return len(as_they_are)


def _write_rows(
    path: Path, files: Sequence[RecordFile], intake: Intake, database: Database, readings: Readings, query: str
) -> None:
    """Write all rows in order; where they are many, a part at a time is sorted, and then put behind the others."""
    unordered = set(database.relation("unordered_files").fetchall())
    if any((readings[file].segment, readings[file].place) in unordered for file in files):
        point_at(files, intake, database)
        database.stand_in("packed_records", "packed_lines")
        parts = [files]
    else:
        parts = list(batches_of(files, AT_ONCE)) or [files]
    written = [intake.new_file("sorted", ".parquet") for _ in parts]
    place = 1
    for part, target in zip(parts, written, strict=True):
        rows = (
            {"segment": readings[file].segment, "segment_place": readings[file].place, "place": place + index}
            for index, file in enumerate(part)
        )
        database.set("packed_files", intake.write("packed_files.jsonl", rows))
        is_only = len(parts) == 1
        database.write_query(query, path if is_only else target, level=SMALL if is_only else QUICK)
        place += len(part)
        database.set("contents", "")
        database.set("raw_lines", intake.write("raw_lines.jsonl", []))
    if len(parts) > 1:
        database.set("sorted_parts", written)
        database.write_query("from read_parquet(getvariable('sorted_parts'))", path, level=SMALL)
        for each in written:
            each.unlink()


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
    sizes: Mapping[RecordFile, int],
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
                size=sizes.get(file) or size_of(file),
            )
            for file in intake.files
        ],
        problems=list(problems),
        logged_returns=[msgspec.json.decode(line) for line in intake.logged_returns.read_bytes().splitlines()],
        skipped=[PackedSkips(run=runs[key], iterations=sorted(found)) for key, found in intake.skipped.items()],
        findings=findings,
        has_checksums=True,
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
