"""Relations that are functions of each run's own lines: made for a batch of files at a time, kept beside its segment.

When a data set grows, only what is new is computed again, beside counts over all of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import duckdb
import msgspec

from audit.engine.database import Database
from audit.ingest.cache import Cache
from audit.ingest.columns import describe, show
from audit.ingest.readings import Readings
from audit.ingest.version import version
from audit.output.progress import tracked
from audit.sources.intake import Intake, RecordFile

MOST: Final = 100
"""Batches, about 25 GB of records: files of several relations for each are open at once, and systems allow 1,024."""


class Batches:
    """The batches of one data set, each a segment with the files that are read from it.

    Args:
        intake: knows the runs.
        readings: where the records of each file are.
        cache: holds the segments.
        set_options: sets the variables of a database that depend on options.
        options: as text; part of the key under which results are kept.
    """

    def __init__(
        self,
        intake: Intake,
        readings: Readings,
        cache: Cache,
        set_options: Callable[[Database], None],
        options: str,
    ) -> None:
        self._intake = intake
        self._readings = readings
        self._cache = cache
        self._set_options = set_options
        self._options = options
        self._files: dict[str, list[RecordFile]] = {}
        for file in intake.files:
            self._files.setdefault(readings[file].segment, []).append(file)

    @property
    def is_whole(self) -> bool:
        """Whether each run is in one batch, what is known of it is in its own files, and there are not too many."""
        files = self._intake.files
        is_native = all(file.real is not None for file in files)
        return len({file.identity for file in files}) == len(files) and is_native and len(self._files) <= MOST

    def parts(self, name: str) -> list[Path]:
        """The files of a relation, one for each batch in the order of the segments."""
        batches = tracked(list(self._files.items()), f"analysing records ({name})")
        return [self._part(name, segment, files) for segment, files in batches]

    def _part(self, name: str, segment: str, files: Sequence[RecordFile]) -> Path:
        folder = self._cache.folder_beside(segment)
        if folder is None:
            return self._made(name, files, self._intake.new_file(name, ".parquet"))
        stem = f"{name}-{self._key(files)}"
        for path in folder.glob(f"{stem}.*"):
            if path.suffix == f".{_digest(path)}":
                return self._cache.held_open(path)
            with contextlib.suppress(OSError):
                path.unlink()
        part = folder / f"{uuid.uuid4().hex}.part"
        try:
            folder.mkdir(exist_ok=True, parents=True)
            self._made(name, files, part)
            path = folder / f"{stem}.{_digest(part)}"
            part.replace(path)
            return self._cache.held_open(path)
        except (OSError, duckdb.IOException):  # another audit has removed the segment, or the disk is full
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            return self._made(name, files, self._intake.new_file(name, ".parquet"))

    def _key(self, files: Sequence[RecordFile]) -> str:
        """A digest of all that the relations of a batch depend on, beside its segment."""
        facts = [[self._readings[file].place, msgspec.to_builtins(self._intake.runs[file.identity])] for file in files]
        text = json.dumps([version(), self._options, facts], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def _made(self, name: str, files: Sequence[RecordFile], path: Path) -> Path:
        with tempfile.TemporaryDirectory(prefix="batch-", dir=self._intake.directory) as directory:
            database = Database(Path(directory))
            try:
                intake = self._intake.part(Path(directory), files)
                describe(intake, database)
                show(self._readings, intake, database)
                self._set_options(database)
                database.write(name, path)
            finally:
                database.close()
        return path


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError:
        return ""
