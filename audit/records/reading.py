"""From paths to records: everything below some folders and archives is found, checked and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import duckdb

from audit.models.sql_text import exactly
from audit.output.errors import AuditError, count, refuse_problems, report
from audit.output.progress import PrintedProgress
from audit.records.loading import load
from audit.records.locating import Found, Located, find_files
from audit.records.packs import PackSource
from audit.records.unpacking import unpack
from audit.sources.formats import FORMATS, Source
from audit.sources.intake import Intake

SOURCES: Final[tuple[Callable[[], Source], ...]] = (*FORMATS, PackSource)


def gather(places: Sequence[Located], intake: Intake) -> None:
    """Read everything in the given folders, archives and packs into the intake.

    Args:
        places: folders, archives and packs.
        intake: takes what is found.

    Raises:
        AuditError: a place holds nothing that any format reads.
    """
    sources = [make() for make in SOURCES]
    for place in places:
        if not _gather_one(place, sources, intake):
            looked_for = "; ".join(source.looked_for for source in sources)
            raise AuditError("\n".join([f"{place.label}: no records found; looked for {looked_for}", *intake.notes]))
    for source in sources:
        source.finish(intake)
    if intake.skipped:
        iterations = count(sum(map(len, intake.skipped.values())), "iteration")
        runs = count(len(intake.skipped), "run")
        intake.notes.append(f"{iterations} of {runs} proposed nothing, and are in no average")


def _gather_one(place: Located, sources: Sequence[Source], intake: Intake) -> bool:
    """Have sources take what is in a place; False where there is nothing for any of them."""
    anything = False
    root = place.path
    if place.is_archive:
        root, problems = unpack(place, intake.directory)
        intake.problems.extend(problems)
    for found in find_files(place, root, intake.problems, intake.notes):
        source = next((source for source in sources if source.claims(found)), None)
        if source is not None:
            anything = True
            if not _has_text_name(found):
                intake.problem(found.label, None, "its name, or a folder's, is not UTF-8; rename it; left out")
            elif intake.first_sight(found.real):
                source.take(found, intake)
    return anything or bool(intake.problems)


def _has_text_name(found: Found) -> bool:
    """Whether a file's name is text, which DuckDB and JSON ask for; file systems take any bytes."""
    try:
        f"{found.label}{found.real}".encode()
    except UnicodeEncodeError:
        return False
    return True


def read_records(
    places: Sequence[Located], directory: Path, connection: duckdb.DuckDBPyConnection, *, strict: bool = False
) -> tuple[Intake, dict[str, Path]]:
    """Find all records in some places, check them, and write what is sound.

    Args:
        places: folders, archives and packs.
        directory: where files are written.
        connection: writes them.
        strict: refuse records with problems.

    Returns:
        What was found, and the file of each of `TABLES`.

    Raises:
        AuditError: a place holds no records, or `strict` and something is wrong.
    """
    intake = Intake(directory)
    with PrintedProgress() as progress:
        progress.begin(0, "finding records", counted=False)
        gather(places, intake)
    _refuse(intake, strict=strict, is_empty=not intake.files)
    files = load(intake, connection, directory)
    [(rows,)] = connection.execute("select count(*) from read_parquet(?)", [exactly(files["records"])]).fetchall()
    _refuse(intake, strict=strict, is_empty=not rows)
    return intake, files


def _refuse(intake: Intake, *, strict: bool, is_empty: bool) -> None:
    if strict:
        refuse_problems(intake.problems)
    if is_empty:
        lines = "".join(f"\n{line}" for line in report(intake.problems))
        what = "iteration that proposed anything" if intake.skipped else "finished iteration"
        raise AuditError(f"no {what} in what was given{lines}")
