"""Record files as columns: each line of JSON is read once, judged, and becomes a row of a Parquet file, a segment.

What is in a pack is in columns already, and what the cache knows need not be read again; so only the rest is. All of it
together is the relation `segments`, which everything else is made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import msgspec

from audit.checks import Fault, find_faults, point_at, too_long, without
from audit.database import Database
from audit.sources.intake import Identity, Intake, RecordFile
from audit.sources.pack import unpack

if TYPE_CHECKING:
    from audit.cache import Cache

BATCH: Final = 256 * 2**20
"""Bytes of JSON that become one segment, unless a single file has more."""


class Reading(msgspec.Struct, frozen=True):
    """What came of a record file: its rows are those at `place` of `segment`, None where there are none."""

    segment: str | None
    place: int
    faults: Sequence[Fault] = ()


Readings = Mapping[RecordFile, Reading]


def read_columns(intake: Intake, database: Database, cache: Cache | None = None) -> Readings:
    """Bring all record files of the intake into columns, and report what is wrong in them.

    Args:
        intake: names the files, and hears of problems.
        database: reads; its relation `segments` has every sound record afterwards.
        cache: knows files that were read before, and is told of the others.
    """
    database.relation("run_records")
    readings = {file: Reading(file.file, file.place) for file in intake.files if file.place is not None}
    if cache is not None:
        readings |= cache.known(file for file in intake.files if file.real is not None)
    unknown = [file for file in intake.files if file not in readings]
    for batch in _batches([file for file in unknown if file.real is not None]):
        readings |= _read(batch, intake, database, cache)
    for batch in _batches([file for file in unknown if file.real is None]):
        readings |= _read(batch, intake, database, None)
    _show(readings, intake, database)
    apart = _without_overlaps(readings, intake, database)
    if apart:
        readings |= apart
        _show(readings, intake, database)
    for file in intake.files:
        for fault in readings[file].faults:
            intake.problem(*((file.label, fault.line) if fault.origin is None else (fault.origin, None)), fault.message)
    point_at([file for file in intake.files if file.place is None], intake, database)
    if cache is not None:
        cache.tidy()
    return readings


def _batches(files: Sequence[RecordFile]) -> Iterator[list[RecordFile]]:
    batch: list[RecordFile] = []
    size = 0
    for file in files:
        more = size_of(file)
        if batch and size + more > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += more
    if batch:
        yield batch


def size_of(file: RecordFile) -> int:
    """Bytes of a file, 0 where it is gone."""
    try:
        return Path(file.file).stat().st_size
    except OSError:
        return 0


def _read(batch: Sequence[RecordFile], intake: Intake, database: Database, cache: Cache | None) -> Readings:
    """Write a segment of some files, and find the faults in them."""
    if cache is not None:
        cache.begin(batch)
    unreadable: dict[RecordFile, Reading] = {}
    try:
        segment = _write(batch, intake, database, cache)
    except duckdb.InvalidInputException:
        # One line too long stops DuckDB altogether, whatever file it is in.
        unreadable = {file: Reading(None, 0, [fault]) for file in batch if (fault := too_long(file)) is not None}
        batch = [file for file in batch if file not in unreadable]
        if not unreadable:
            raise
        if not batch:
            return unreadable
        segment = _write(batch, intake, database, cache)
    database.set("written", segment)
    suspects = dict(database.relation("suspects").fetchall())
    suspicious = {file: suspects[place] for place, file in enumerate(batch, start=1) if place in suspects}
    faults = dict(zip(suspicious, find_faults(list(suspicious), intake, database), strict=True)) if suspicious else {}
    repeating = {file: faults[file] for file, repeats in suspicious.items() if repeats}
    readings = {
        file: Reading(str(segment), place, faults.get(file, ()))
        for place, file in enumerate(batch, start=1)
        if file not in repeating
    }
    kept = readings if cache is None else cache.keep(segment, readings)
    return {**kept, **unreadable, **_read_again(repeating, intake, database)}


def _write(batch: Sequence[RecordFile], intake: Intake, database: Database, cache: Cache | None) -> Path:
    point_at(batch, intake, database)
    kept = None if cache is None else cache.new_segment()
    if kept is not None and cache is not None:
        try:
            database.write("judged", kept)
        except (duckdb.IOException, OSError) as error:
            kept.unlink(missing_ok=True)
            cache.give_up(error)
        else:
            return kept
    segment = intake.new_file("segment", ".parquet")
    database.write("judged", segment)
    return segment


def _read_again(faults: Mapping[RecordFile, Sequence[Fault]], intake: Intake, database: Database) -> Readings:
    """Read files without the lines that are at fault; of iterations that are there twice the first one counts."""
    if not faults:
        return {}
    copies = []
    for file in faults:
        copy = intake.new_file("kept")
        without(faults[file], Path(file.file), copy)
        copies.append(msgspec.structs.replace(file, file=str(copy)))
    segment = _write(copies, intake, database, None)
    return {file: Reading(str(segment), place, faults[file]) for place, file in enumerate(faults, start=1)}


def _show(readings: Readings, intake: Intake, database: Database) -> None:
    """Make `segments` and `record_files` those of what was read."""
    there = [(file, readings[file]) for file in intake.files if readings[file].segment is not None]
    rows = (
        {
            "file": file.file,
            "label": file.label,
            "condition": file.condition,
            "env": file.env,
            "variant": file.variant,
            "run": file.run,
            "source": file.source,
            "segment": reading.segment,
            "place": reading.place,
        }
        for file, reading in there
    )
    database.set("record_file_list", intake.write("record_files.jsonl", rows))
    segments = dict.fromkeys(reading.segment for _, reading in there if reading.segment is not None)
    database.set("segments", [Path(segment) for segment in segments])


def _without_overlaps(readings: Readings, intake: Intake, database: Database) -> Readings:
    """The files of runs of which several hold the same iteration, as after copying a folder: the first one counts."""
    files_of: dict[Identity, list[RecordFile]] = {}
    for file in intake.files:
        if readings[file].segment is not None:
            files_of.setdefault(file.identity, []).append(file)
    if Counter(map(len, files_of.values())).keys() <= {1}:
        return {}
    found: dict[RecordFile, Reading] = {}
    for identity in database.relation("overlaps").fetchall():
        files = files_of[identity]
        lines = [unpack(file, intake) for file in files]
        faults = find_faults(lines, intake, database, together=True)
        again = _read_again(dict(zip(lines, faults, strict=True)), intake, database)
        found |= {file: again[line_file] for file, line_file in zip(files, lines, strict=True)}
    return found
