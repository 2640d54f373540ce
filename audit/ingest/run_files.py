"""Reads the records of single runs: what was found of a data set is kept, so that the rest need not be looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path
from typing import Final

import msgspec

from audit.engine.database import Database
from audit.ingest.checks import size_of
from audit.ingest.gathering import read_found
from audit.ingest.options import Options
from audit.sources.intake import Intake, RecordFile, RunFacts
from audit.vocabulary.keys import RunKey

MOST: Final = 64 * 2**20
"""Bytes of files up to which the records of runs are read into memory."""


class _Found(msgspec.Struct, frozen=True):
    """Files of records, and their runs."""

    files: list[RecordFile]
    runs: list[RunFacts]


def encoded(intake: Intake) -> bytes | None:
    """What was found, to be kept; None where it cannot be: some files are temporary ones."""
    if any(Path(file.file).is_relative_to(intake.directory) for file in intake.files):
        return None
    # A number that JSON here cannot hold, or a name that is no text.
    with contextlib.suppress(OverflowError, UnicodeEncodeError, msgspec.MsgspecError):
        return msgspec.json.encode(_Found(intake.files, list(intake.runs.values())))
    return None


def found_again(content: bytes, runs: Collection[RunKey], directory: Path) -> Intake | None:
    """The files of some runs; None where they are not known or not there.

    Args:
        content: what `encoded` gave.
        runs: which runs.
        directory: for temporary files.
    """
    try:
        found = msgspec.json.decode(content, type=_Found)
        files = [file for file in found.files if file.identity in runs]
        # A translation is kept apart, and may have been removed.
        if not all(Path(file.file).exists() for file in files if file.real is None):
            return None
    except (msgspec.MsgspecError, OSError):
        return None
    intake = Intake(directory)
    intake.runs = {facts.identity: facts for facts in found.runs}
    return intake.part(directory, files)


def fill(database: Database, intake: Intake, options: Options) -> bool:
    """Read the records of some runs into the memory of a new database; False where they are not read that way.

    Args:
        database: of which nothing is built yet.
        intake: the files of the runs.
        options: what relations depend on beside the records.
    """
    if not 0 < sum(map(size_of, intake.files)) <= MOST:
        return False
    database.hold()
    read_found(intake, database, None)
    options.set(database, intake.directory)
    return True
