"""Writes one pack of what has been read."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path

import msgspec

from audit.engine.carried import carried_at
from audit.engine.database import Database
from audit.ingest.cache import Cache
from audit.ingest.checks import size_of
from audit.ingest.readings import Readings
from audit.ingest.version import findings_version
from audit.output.errors import Problem
from audit.packing.findings import without
from audit.packing.parquet import Assembled
from audit.packing.records import add_records
from audit.remote.checksums import add_checksums
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
    sizes: Mapping[RecordFile, int] | None = None,
) -> int:
    """Write a pack.

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
    findings = CarriedFindings(findings_version(), [each.column for each in columns]) if columns else None
    contents = _contents(intake, places, len(in_columns), problems, findings, sizes or {})
    database.set("contents", msgspec.json.encode(contents).decode())
    first = _rest([], places, intake, database, without(columns))
    database.set("contents", "")
    last = _rest(as_they_are, places, intake, database, without(columns))
    with Assembled(path, first) as pack:
        pack.add(first)
        if in_columns:
            add_records(pack, in_columns, intake, database, readings, cache, level=level, columns=columns)
        pack.add(last)
    add_checksums(path)
    return len(as_they_are)


def _rest(
    files: Sequence[RecordFile], places: Mapping[RecordFile, int], intake: Intake, database: Database, query: str
) -> Path:
    """What is not in columns: the contents that are set, and lines of files as they are."""
    path = intake.new_file("rest", ".parquet")
    database.set("raw_lines", intake.write("raw_lines.jsonl", _raw_lines(files, places)))
    database.write_query(query, path, as_packed=True)
    return path


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
