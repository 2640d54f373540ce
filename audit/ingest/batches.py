"""Relations that are functions of each run's own lines: taken from packs, or made a batch of files at a time and kept.

When a data set grows, only what is new is computed again, beside counts over all of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import duckdb
import msgspec

from audit.cache_folder import digest_of
from audit.engine.carried import Carried, Parts, carried_as
from audit.engine.catalog import BATCHED, WITHIN
from audit.engine.database import Database
from audit.ingest.cache import Cache
from audit.ingest.carriers import believed
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
    """The batches of one data set, each a segment or a pack with the files that are read from it.

    Args:
        intake: knows the runs and the packs.
        readings: where the records of each file are.
        cache: holds the segments; None where there is no cache.
        options: what relations depend on beside the records.
    """

    def __init__(self, intake: Intake, readings: Readings, cache: Cache | None, options: Options) -> None:
        self._intake = intake
        self._readings = readings
        self._cache = cache
        self._options = options
        self._carriers = believed(intake)
        for file in intake.files:
            if file.place is not None and readings[file].segment != file.file:  # it overlaps others, and was read anew
                self._carriers.pop(file.file, None)
        self._files: dict[str, list[RecordFile]] = {}
        for file in intake.files:
            self._files.setdefault(readings[file].segment, []).append(file)
        found = Counter(file.identity for file in intake.files)
        self._split = [file for file in intake.files if found[file.identity] > 1]

    def parts(self, name: str) -> Parts | None:
        """Where the rows of a relation are; None where it has to be made of all records together."""
        detector = self._options.detector
        if name == "references" and detector.is_judged:  # files of judgements decide
            return None
        carried = carried_as(WITHIN.get(name, name), detector.key, has_thresholds=any(self._options.overrides.values()))
        packs = [segment for segment in self._files if carried and carried.column in self._carriers.get(segment, ())]
        rest = {segment: files for segment, files in self._files.items() if segment not in packs}
        if not rest:
            return self._carried(name, carried, packs)
        if name not in BATCHED or not self._is_whole(rest):
            return None
        batches = tracked(list(rest.items()), f"analysing records ({name})")
        with kept_workers():
            files = [self._part(name, segment, files) for segment, files in batches]
        return Parts(files, [Path(pack) for pack in packs], carried)

    def _carried(self, name: str, carried: Carried | None, packs: Sequence[str]) -> Parts:
        """A relation that packs carry, but for the rows of runs that are in several of them."""
        paths = [Path(pack) for pack in packs]
        if carried is None or not carried.of_run or not self._split:
            return Parts([], paths, carried)
        made = self._made(name, self._split, self._intake.new_file(name, ".parquet"))
        runs = dict.fromkeys(file.identity for file in self._split)
        return Parts([made], paths, carried, [run._asdict() for run in runs])

    def _is_whole(self, batches: Mapping[str, Sequence[RecordFile]]) -> bool:
        """Whether each run is in one batch, what is known of it is in its own files, and there are not too many."""
        sources = {file.source for files in batches.values() for file in files}
        return not self._split and RELEASE not in sources and len(batches) <= MOST

    def _part(self, name: str, segment: str, files: Sequence[RecordFile]) -> Path:
        folder = None if self._cache is None else self._cache.folder_beside(segment)
        if folder is None or self._cache is None:
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
