"""Puts records into a pack: their columns, which were written in its order when they were read, and what was found."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from audit.engine.carried import KEYS, Carried
from audit.engine.database import Database
from audit.ingest.cache import Cache
from audit.ingest.checks import point_at
from audit.ingest.columns import BATCH_OF_PACK, batches_of
from audit.ingest.readings import Readings
from audit.packing.findings import write_findings
from audit.packing.parquet import Assembled
from audit.sources.intake import Intake, RecordFile
from audit.sources.r2po_release import SOURCE as RELEASE
from audit.vocabulary.keys import RunKey

AT_ONCE: Final = 8
"""Batches in whose records is found at once what they carry, where it can be: half a gigabyte of JSON."""


class _Part(NamedTuple):
    """The records of a batch in the order of the pack, as a Parquet file.

    `place` is that of its first file in the pack, `before` the number of records before these.
    """

    files: Sequence[RecordFile]
    path: Path
    place: int
    before: int


def add_records(
    pack: Assembled,
    files: Sequence[RecordFile],
    intake: Intake,
    database: Database,
    readings: Readings,
    cache: Cache | None,
    *,
    level: str,
    columns: Sequence[Carried],
) -> None:
    """Add the records of sound files to a pack, with what was found in them.

    Args:
        pack: it is being put together.
        files: the sound files, in the order of their places, from 1.
        intake: lists them.
        database: which they were read into.
        readings: where in it they are.
        cache: holds what was found before.
        level: see `write_findings`.
        columns: what the pack carries.
    """
    is_unordered = _is_unordered(files, database, readings)
    parts = _parts(files, intake, database, readings, is_unordered=is_unordered)
    is_known = any(Path(reading.segment).parent != intake.directory for reading in readings.values())
    for group in [parts] if is_known else _groups(parts, intake):
        with contextlib.ExitStack() as resources:
            own = intake if group is parts else _own(group, intake, resources)
            found = write_findings(own, readings, cache if is_known else None, level, resources) if columns else {}
            for column, file in found.items():
                database.set(column, file)
            query = _beside(group, columns, intake, database, is_unordered=is_unordered)
            for part, path in zip(group, _written_beside(group, query, intake, database), strict=True):
                pack.add(path, part.path)  # of a column in both the first is taken: the place in the pack
                part.path.unlink()
                path.unlink()


def _is_unordered(files: Sequence[RecordFile], database: Database, readings: Readings) -> bool:
    """Whether any file has lines in another order than its iterations."""
    there = {(readings[file].segment, readings[file].place) for file in files}
    return not there.isdisjoint(database.relation("unordered_files").fetchall())


def _parts(
    files: Sequence[RecordFile], intake: Intake, database: Database, readings: Readings, *, is_unordered: bool
) -> list[_Part]:
    """The records batch by batch: segments that were read for this pack, and others sorted as these are."""
    lasts = dict(database.relation("segments").aggregate("segment, max(place)", "segment").fetchall())
    parts: list[_Part] = []
    place, before = 1, 0
    for batch in batches_of(files, BATCH_OF_PACK):
        segment = readings[batch[0]].segment
        is_whole = Path(segment).parent == intake.directory and lasts[segment] == len(batch)
        there = [(readings[file].segment, readings[file].place) for file in batch]
        if is_whole and there == [(segment, at) for at, _ in enumerate(batch, start=1)]:
            path = Path(segment)
        else:
            path = _sorted(batch, intake, database, readings, is_unordered=is_unordered)
        parts.append(_Part(batch, path, place, before))
        place += len(batch)
        if is_unordered:
            database.set("packed_parts", [path])
            before += database.number_of("from read_parquet(getvariable('packed_parts'))")
    return parts


def _sorted(
    batch: Sequence[RecordFile], intake: Intake, database: Database, readings: Readings, *, is_unordered: bool
) -> Path:
    """The records of a batch as they would have been read for a pack, to the byte."""
    path = intake.new_file("sorted", ".parquet")
    if is_unordered:  # a segment need not have lines in their order
        point_at(batch, intake, database)
        database.write_query('from "packed_lines"', path, as_packed=True)
    else:
        rows = (
            {"segment": readings[file].segment, "segment_place": readings[file].place, "place": place}
            for place, file in enumerate(batch, start=1)
        )
        database.set(
            "packed_segments", [Path(each) for each in dict.fromkeys(readings[file].segment for file in batch)]
        )
        database.set("packed_files", intake.write("packed_files.jsonl", rows))
        database.write_query('from "packed_records"', path, as_packed=True)
    return path


def _groups(parts: Sequence[_Part], intake: Intake) -> list[Sequence[_Part]]:
    """The batches, some at a time where these have runs as a whole; what is found in a record depends on its run."""
    group_of = {file: place // AT_ONCE for place, part in enumerate(parts) for file in part.files}
    of_runs: dict[RunKey, int | None] = {}
    for file in intake.files:
        group = group_of.get(file)
        if of_runs.setdefault(file.identity, group) != group or file.source == RELEASE:
            return [parts]
    if len(parts) <= AT_ONCE:
        return [parts]
    return [parts[start : start + AT_ONCE] for start in range(0, len(parts), AT_ONCE)]


def _own(group: Sequence[_Part], intake: Intake, resources: contextlib.ExitStack) -> Intake:
    """The files of some batches."""
    directory = resources.enter_context(tempfile.TemporaryDirectory(prefix="group-", dir=intake.directory))
    own = intake.part(Path(directory), [file for part in group for file in part.files])
    own.skipped = {run: intake.skipped[run] for run in own.runs if run in intake.skipped}
    return own


def _beside(
    group: Sequence[_Part], columns: Sequence[Carried], intake: Intake, database: Database, *, is_unordered: bool
) -> str:
    """A query for the columns of a pack that its records have not when they are read."""
    rows = ({"filename": str(part.path), "first": part.place - 1, "before": part.before} for part in group)
    database.set("packed_part_list", intake.write("packed_parts.jsonl", rows))
    database.set("packed_parts", [part.path for part in group])
    number = "before + parts.file_row_number + 1" if is_unordered else "iteration"
    names = "".join(f', "{each.column}"' for each in columns)
    joins = "".join(
        f" left join read_parquet(getvariable('{each.column}')) as of_{each.column} using ({KEYS})" for each in columns
    )
    return (
        f"select place + first as place, {number} as number{names}, null::blob as line "
        "from read_parquet(getvariable('packed_parts'), filename = true, file_row_number = true) as parts "
        "join read_json(getvariable('packed_part_list'), format = 'newline_delimited', "
        "columns = {filename: 'varchar', first: 'bigint', before: 'bigint'}) as list using (filename)"
        f"{joins} order by 1, 2"
    )


def _written_beside(group: Sequence[_Part], query: str, intake: Intake, database: Database) -> Iterator[Path]:
    """Those columns as a file for each batch."""
    if len(group) == 1:
        path = intake.new_file("beside", ".parquet")
        database.write_query(query, path, as_packed=True)
        yield path
        return
    together = intake.new_file("beside", ".parquet")
    database.write_query(query, together)
    database.set("packed_beside", together)
    for part in group:
        path = intake.new_file("beside", ".parquet")
        places = f"place between {part.place} and {part.place + len(part.files) - 1}"
        some = f"from read_parquet(getvariable('packed_beside')) where {places} order by place, number"
        database.write_query(some, path, as_packed=True)
        yield path
    together.unlink()
