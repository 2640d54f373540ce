"""Relations that are functions of each run's own lines: made a batch of files at a time and kept.

When a data set grows, only what is new is computed again, beside counts over all of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import duckdb
import msgspec

from audit.cache_folder import digest_of
from audit.engine.catalog import WITHIN
from audit.engine.database import Database
from audit.ingest.cache import Cache
from audit.ingest.columns import describe, show
from audit.ingest.options import Options
from audit.ingest.readings import Readings
from audit.ingest.version import version
from audit.output.progress import tracked
from audit.python_models.workers import kept_workers
from audit.sources.intake import Intake, RecordFile
from audit.sources.r2po_release import SOURCE as RELEASE

MOST: Final = 100
"""Batches, about 25 GB of records: files of several relations for each are open at once, and systems allow 1,024."""


class Batches:
    """The batches of one data set, each a segment with the files that are read from it.

    Args:
        intake: knows the runs.
        readings: where the records of each file are.
        cache: holds the segments.
        options: what relations depend on beside the records.
    """

    def __init__(self, intake: Intake, readings: Readings, cache: Cache, options: Options) -> None:
        self._intake = intake
        self._readings = readings
        self._cache = cache
        self._options = options
        self._files: dict[str, list[RecordFile]] = {}
        for file in intake.files:
            self._files.setdefault(readings[file].segment, []).append(file)

    def parts(self, name: str) -> list[Path] | None:
        """Parquet files with the rows of a relation; None where it has to be made of all records together."""
        is_judged = name == "references" and self._options.detector.is_judged  # files of judgements decide
        if is_judged or not self._can_be_separate():
            return None
        batches = tracked(list(self._files.items()), f"analysing records ({name})")
        with kept_workers():
            return [self._part(name, segment, files) for segment, files in batches]

    def _can_be_separate(self) -> bool:
        """Whether no run is in several files, none depends on files of others, and there are at most `MOST` batches."""
        files = self._intake.files
        is_split = len({file.identity for file in files}) < len(files)
        return not is_split and all(file.source != RELEASE for file in files) and len(self._files) <= MOST

    def _part(self, name: str, segment: str, files: Sequence[RecordFile]) -> Path:
        folder = self._cache.folder_beside(segment)
        if folder is None:
            return self._made(name, files, self._intake.new_file(name, ".parquet"))
        for each in dict.fromkeys((WITHIN.get(name, name), name)):
            stem = f"{each}-{self._key(each, files)}"
            for path in folder.glob(f"{stem}.*"):
                with contextlib.suppress(OSError):
                    if path.suffix == f".{digest_of(path, folder.name, stem)}":
                        return self._cache.held_open(path)
                    path.unlink()
        part = folder / f"{uuid.uuid4().hex}.part"
        try:
            folder.mkdir(exist_ok=True, parents=True)
            self._made(name, files, part)
            path = folder / f"{stem}.{digest_of(part, folder.name, stem)}"
            part.replace(path)
            return self._cache.held_open(path)
        except (OSError, duckdb.IOException):  # another audit has removed the segment, or the disk is full
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            return self._made(name, files, self._intake.new_file(name, ".parquet"))

    def _key(self, name: str, files: Sequence[RecordFile]) -> str:
        """A digest of all that a relation of a batch depends on, beside its segment."""
        facts = [[self._readings[file].place, msgspec.to_builtins(self._intake.runs[file.identity])] for file in files]
        text = json.dumps([version(), self._options.key_of(name), facts], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def _made(self, name: str, files: Sequence[RecordFile], path: Path) -> Path:
        with tempfile.TemporaryDirectory(prefix="batch-", dir=self._intake.directory) as directory:
            database = Database(Path(directory))
            try:
                intake = self._intake.part(Path(directory), files)
                describe(intake, database)
                show(self._readings, intake, database)
                self._options.set(database, Path(directory))
                database.write(name, path)
            finally:
                database.close()
        return path
