"""From paths to records in columns: everything below some folders and archives is found and read."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from audit.cache_folder import cache_folder
from audit.engine.database import Database
from audit.engine.memory import room
from audit.ingest.cache import SMALLEST, Cache
from audit.ingest.checks import size_of
from audit.ingest.columns import describe, read_columns
from audit.ingest.readings import Readings
from audit.output.errors import AuditError, refuse_problems, report
from audit.output.progress import PrintedProgress
from audit.remote.copies import fetch
from audit.sources import gather
from audit.sources.grammar import LINE_FORMS, line_form
from audit.sources.intake import Intake
from collector.system.stopping import temporary_folder

HELD: Final = 0.25
"""Share of DuckDB's memory, 500 MB by default, that records have at most which are held in it where nothing is kept."""


def read(
    paths: Sequence[Path],
    resources: contextlib.ExitStack,
    *,
    strict: bool = False,
    cache: bool = True,
) -> tuple[Intake, Database, Readings]:
    """Find and read all records below some paths.

    Args:
        paths: see `open_store`.
        resources: keeps the database and temporary files until it is closed.
        strict: see `open_store`.
        cache: see `open_store`.

    Returns:
        What was found, the database with the relation `segments`, and where in it the records of each file are.

    Raises:
        AuditError: a path is missing or holds no records, or `strict` and something is wrong.
    """
    fetch(paths, cache=cache)
    directory = resources.enter_context(temporary_folder())
    database = Database(directory)
    resources.callback(database.close)
    intake, readings, _ = read_into(database, paths, directory, resources, strict=strict, cache=cache)
    return intake, database, readings


def read_into(
    database: Database,
    paths: Sequence[Path],
    directory: Path,
    resources: contextlib.ExitStack,
    *,
    strict: bool,
    cache: bool,
) -> tuple[Intake, Readings, Cache | None]:
    """Find and read all records below some paths, into the relation `segments` of a database.

    Args:
        database: gets the variables that models read.
        paths: see `open_store`.
        directory: for temporary files.
        resources: keeps other files open until it is closed.
        strict: see `open_store`.
        cache: see `open_store`.

    Returns:
        What was found, where in it the records of each file are, and the cache if there is one.

    Raises:
        AuditError: a path is missing or holds no records, or `strict` and something is wrong.
    """
    intake = Intake(directory)
    with PrintedProgress() as progress:
        progress.begin(0, "finding records", counted=False)
        gather(paths, intake, keep=cache)
    refuse(intake, strict=strict)
    kept = _cache(intake, resources) if cache else None
    if kept is None:
        _hold(intake, database)
    readings = read_found(intake, database, kept)
    refuse(intake, strict=strict)
    return intake, readings, kept


def read_found(intake: Intake, database: Database, cache: Cache | None) -> Readings:
    """Read what was found into the relation `segments` of a database; returns where in it the records of each file are.

    Args:
        intake: what was found; takes the problems.
        database: gets the variables that models read.
        cache: see `read_columns`.
    """
    for variable, text in line_form().items():
        if variable not in LINE_FORMS.values():  # `point_at` sets those that it needs
            database.set(variable, text)
    describe(intake, database)
    return read_columns(intake, database, cache)


def _cache(intake: Intake, resources: contextlib.ExitStack) -> Cache | None:
    """The cache, if there is enough to read for it to be worthwhile."""
    folder = cache_folder()
    size = sum(size_of(file) for file in intake.files if file.known_as is not None)
    return None if folder is None or size < SMALLEST else Cache(folder, intake, resources)


def _hold(intake: Intake, database: Database) -> None:
    """Have records that are not too many read into a table: columns in a file cost more."""
    size = sum(map(size_of, intake.files))
    if size <= HELD * room():
        database.hold(segments_alone=size >= SMALLEST)


def refuse(intake: Intake, *, strict: bool) -> None:
    """Raise an error where there is nothing to read, or there are problems under `strict`.

    Raises:
        AuditError: no record file, or problems under `strict`.
    """
    if strict:
        refuse_problems(intake.problems)
    if not intake.files:
        raise nothing(intake)


def nothing(intake: Intake) -> AuditError:
    """The error of records without a finished iteration, or none that proposed anything."""
    lines = "".join(f"\n{line}" for line in report(intake.problems))
    what = "iteration that proposed anything" if intake.skipped else "finished iteration"
    return AuditError(f"no {what} in what was given{lines}")
