"""Record files as columns: each line of JSON is read once, judged, and becomes a row of a Parquet file, a segment.

What the cache holds is not read again; only the rest is. Together they are the relation `segments`, from which
everything else is derived.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import duckdb

from audit.engine.database import Database
from audit.ingest.cache import Cache
from audit.ingest.checks import has_too_long_line, point_at, sift, size_of
from audit.ingest.readings import Reading, Readings
from audit.output.progress import PrintedProgress
from audit.sources.intake import Intake, RecordFile
from audit.vocabulary.keys import RunKey

BATCH: Final = 256 * 2**20
"""Bytes of JSON that become one segment, unless a single file has more."""


def read_columns(intake: Intake, database: Database, cache: Cache | None = None) -> Readings:
    """Bring all record files of the intake into columns, and report what is wrong in them.

    Args:
        intake: lists the files, and collects problems.
        database: reads the files; its relation `segments` holds every sound record afterwards.
        cache: knows files that were read before, and records the others.
    """
    database.relation("run_records")
    readings: dict[RecordFile, Reading] = {}
    if cache is not None:
        readings |= cache.known(file for file in intake.files if file.known_as is not None)
    unknown = [file for file in intake.files if file not in readings]
    with PrintedProgress() as progress:
        progress.begin(sum(map(size_of, unknown)), "reading records", counted=False)
        for is_kept in (True, False):
            for batch in _batches([file for file in unknown if (file.known_as is not None) == is_kept]):
                readings |= _read(batch, intake, database, cache if is_kept else None)
                progress.advance(sum(map(size_of, batch)))
    show(readings, intake, database)
    apart = _without_overlaps(intake, database)
    if apart:
        readings |= apart
        show(readings, intake, database)
    for file in intake.files:
        for fault in readings[file].faults:
            intake.problem(*((file.label, fault.line) if fault.origin is None else (fault.origin, None)), fault.message)
    if cache is not None:
        cache.tidy()
    return readings


def _batches(files: Sequence[RecordFile]) -> Iterator[list[RecordFile]]:
    """Files in their order, so many at a time as have `BATCH` bytes together."""
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


def _read(batch: Sequence[RecordFile], intake: Intake, database: Database, cache: Cache | None) -> Readings:
    """Read some files into segments, each as a whole where it is sound, and else line by line."""
    if cache is not None:
        cache.begin(batch)
    apart: list[RecordFile] = []
    try:
        segment = _write(batch, intake, database, cache)
    except duckdb.InvalidInputException:
        # One line too long stops DuckDB altogether, whatever file it is in.
        apart = [file for file in batch if has_too_long_line(file)]
        batch = [file for file in batch if file not in apart]
        if not apart:
            raise
        segment = _write(batch, intake, database, cache)
    if database.has_segments:
        database.stand_in("written", "added")
    database.set("written", str(segment) if database.has_segments else segment)
    suspects = {place for (place,) in database.relation("suspects").fetchall()}
    readings: Readings = {
        file: Reading(str(segment), place) for place, file in enumerate(batch, start=1) if place not in suspects
    }
    apart += [file for place, file in enumerate(batch, start=1) if place in suspects]
    if cache is not None:
        readings = cache.keep(segment, readings)
    return {**readings, **_read_apart(apart, intake, database, cache)}


def _read_apart(
    files: Sequence[RecordFile],
    intake: Intake,
    database: Database,
    cache: Cache | None = None,
    *,
    together: bool = False,
) -> Readings:
    """Read files line by line, sound lines into a segment; of iterations that occur twice the first counts."""
    if not files:
        return {}
    sifted = sift(files, intake, database, together=together)
    segment = _write([each.sound for each in sifted.values()], intake, database, cache, are_accepted=True)
    readings = {
        file: Reading(str(segment), place, each.faults) for place, (file, each) in enumerate(sifted.items(), start=1)
    }
    return readings if cache is None else cache.keep(segment, readings)


def _write(
    batch: Sequence[RecordFile],
    intake: Intake,
    database: Database,
    cache: Cache | None,
    *,
    are_accepted: bool = False,
) -> Path:
    point_at(batch, intake, database, are_accepted=are_accepted)
    segment = intake.new_file("segment", ".parquet")
    if database.has_segments:
        database.append("segments", "judged", segment=str(segment))
        return segment
    kept = None if cache is None else cache.new_segment()
    if kept is not None and cache is not None:
        try:
            database.write("judged", kept)
        except (duckdb.IOException, OSError) as error:
            kept.unlink(missing_ok=True)
            cache.give_up(error)
        else:
            return kept
    database.write("judged", segment)
    return segment


def describe(intake: Intake, database: Database) -> None:
    """Make `run_records`, `skipped` and `logged_returns` those of the intake."""
    intake.append(intake.logged_returns)
    database.set("run_file", intake.write("runs.jsonl", intake.runs.values()))
    skipped = ({**key._asdict(), "iteration": each} for key, found in intake.skipped.items() for each in sorted(found))
    database.set("skipped_file", intake.write("skipped_iterations.jsonl", skipped))
    database.set("logged_return_file", intake.logged_returns)


def show(readings: Readings, intake: Intake, database: Database) -> None:
    """Make `segments` and `record_files` those of what was read."""
    there = [(file, readings[file]) for file in intake.files]
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
    segments = () if database.has_segments else dict.fromkeys(reading.segment for _, reading in there)
    database.set("segments", [Path(segment) for segment in segments])


def _without_overlaps(intake: Intake, database: Database) -> Readings:
    """The files of runs of which several hold the same iteration, as after copying a folder: the first one counts."""
    files_of: dict[RunKey, list[RecordFile]] = {}
    for file in intake.files:
        files_of.setdefault(file.identity, []).append(file)
    if Counter(map(len, files_of.values())).keys() <= {1}:
        return {}
    found: dict[RecordFile, Reading] = {}
    for row in database.relation("overlaps").fetchall():
        files = files_of[RunKey(*row)]
        found |= _read_apart(files, intake, database, together=True)
    return found
