"""What was read before: record files as columns, kept between audits.

A segment `<name>.parquet` holds the records of some files, and the list `<name>.json` states which files these were and
how they looked when they were read. A file that looks different now is read again. The list has digests of itself and
of the segment, so that what is damaged is read again as well. Nothing that exists is ever changed: segments and lists
appear under their names when they are complete, so any number of audits can share the folder, and what does not match
its list is ignored and removed. The folder can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from audit.cache_folder import SETTLED, digest_of
from audit.ingest.readings import Reading, Readings
from audit.ingest.segment_lists import (
    Contents,
    Look,
    Source,
    look_of,
    read_lists,
    remove,
    segment_of,
    tidy,
    write_list,
)
from audit.ingest.version import version
from audit.sources.intake import Intake, RecordFile
from collector.errors import cannot_write

SMALLEST: Final = 2**20
"""Bytes of records from which on the cache is used: fewer are read faster than they are looked up and written."""
SMALL: Final = 8 * 2**20
"""Bytes up to which a segment is small."""
MOST_SMALL: Final = 16
"""Small segments that are read together; where there are more, their files are read again into one."""

_OPEN_FILES: Final = Path("/proc/self/fd")


class Cache:
    """The cache as one audit uses it.

    Args:
        folder: where it is; made when something is first kept.
        intake: knows the runs, and takes notes for the user.
        resources: closes what is held open when the audit ends.
    """

    def __init__(self, folder: Path, intake: Intake, resources: contextlib.ExitStack) -> None:
        self._folder = folder
        self._intake = intake
        self._resources = resources
        self._looks: dict[RecordFile, Look] = {}
        self._used: set[Path] = set()
        self._names: dict[str, Path] = {}
        self._has_grown = False
        self._is_writable = True

    def known(self, files: Iterable[RecordFile]) -> Readings:
        """What is known of files that have not changed since."""
        lists = {
            path: held
            for path, held in read_lists(self._folder).items()
            if held is not None and held.version == version() and self._is_whole(path, held)
        }
        sources = {source.path: (path, source) for path, held in lists.items() for source in held.sources}
        found: dict[Path, dict[RecordFile, Source]] = {}
        for file in files:
            path, source = sources.get(file.known_as or "", (None, None))
            if (
                path is not None
                and source is not None
                and source.judged_by == self._judged_by(file)
                and source.look == _look_of(file)
            ):
                found.setdefault(path, {})[file] = source
        small = [path for path in found if lists[path].segment.size <= SMALL]
        readings: dict[RecordFile, Reading] = {}
        for path, held in found.items():
            if len(small) <= MOST_SMALL or path not in small:
                readings |= self._use(path, held, lists[path].content)
        return readings

    def begin(self, files: Sequence[RecordFile]) -> None:
        """Remember how files look before they are read."""
        now = time.time_ns()
        looks = {file: _look_of(file) for file in files}
        self._looks = {
            file: look
            for file, look in looks.items()
            if look is not None and now - max(look.modified, look.changed) > SETTLED
        }

    def new_segment(self) -> Path | None:
        """Where a segment can be written; None if none can."""
        if not self._is_writable:
            return None
        path = self._folder / f"{uuid.uuid4().hex}.part"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch()
            path.unlink()
        except OSError as error:
            self.give_up(error)
            return None
        self._resources.callback(_unlink, path)
        return path

    def give_up(self, error: Exception) -> None:
        """Stop keeping segments, and note why."""
        reason = error if isinstance(error, OSError) else OSError(str(error).strip().splitlines()[0])
        self._is_writable = False
        self._intake.notes.append(f"{cannot_write(f'the cache {self._folder}', reason)}; going on without it")

    def keep(self, segment: Path, readings: Readings) -> Readings:
        """Keep a segment under its permanent name; returns the readings with its new place."""
        if segment.parent != self._folder:
            return readings
        sources = [
            Source(
                name,
                self._looks[file],
                self._judged_by(file),
                reading.place,
                list(reading.faults),
            )
            for file, reading in readings.items()
            if (name := file.known_as) is not None and file in self._looks and _look_of(file) == self._looks[file]
        ]
        where = None
        if sources:
            try:
                segment, where = self._publish(segment, sources)
            except OSError as error:
                self.give_up(error)
        where = where or self._held_open(segment)
        if segment.suffix == ".parquet":
            self._names[where] = segment
        return {file: msgspec.structs.replace(reading, segment=where) for file, reading in readings.items()}

    def tidy(self) -> None:
        """Remove what is no longer of use, if this audit has added anything."""
        if self._has_grown:
            with contextlib.suppress(OSError):
                tidy(self._folder, self._used)

    def _publish(self, segment: Path, sources: list[Source]) -> tuple[Path, str]:
        path = segment.with_suffix(".json")
        content = digest_of(segment)
        look = look_of(segment.rename(segment_of(path)))
        where = self._held_open(segment_of(path))  # as soon as it is listed, another audit may replace and remove it
        try:
            if look is not None:
                write_list(path, Contents(version(), time.time_ns(), look, content, sources))
        except OSError as error:
            self.give_up(error)
            self._resources.callback(_unlink, segment_of(path))
        else:
            self._used.add(path)
            self._has_grown = True
        return segment_of(path), where

    def _is_whole(self, path: Path, held: Contents) -> bool:
        if look_of(segment_of(path)) == held.segment:
            return True
        remove(path)
        return False

    def _use(self, path: Path, sources: dict[RecordFile, Source], content: str) -> Readings:
        try:
            segment = self._held_open(segment_of(path))
            is_sound = digest_of(Path(segment)) == content
        except OSError:  # another audit has just removed it
            return {}
        if not is_sound:
            remove(path)
            return {}
        self._used.add(path)
        self._names[segment] = segment_of(path)
        with contextlib.suppress(OSError):
            os.utime(path)
        return {file: Reading(segment, source.place, source.faults) for file, source in sources.items()}

    def folder_beside(self, segment: str) -> Path | None:
        """Where results of a segment can be kept, by the name in a `Reading`; None if the segment is not kept."""
        path = self._names.get(segment)
        return path.with_suffix("") if path is not None and self._is_writable else None

    def held_open(self, path: Path) -> Path:
        """The name of a file that stays readable until the audit ends, even if another process removes it."""
        return Path(self._held_open(path))

    def _held_open(self, segment: Path) -> str:
        if not _OPEN_FILES.is_dir():
            return str(segment)
        descriptor = os.open(segment, os.O_RDONLY)
        self._resources.callback(os.close, descriptor)
        return str(_OPEN_FILES / str(descriptor))

    def _judged_by(self, file: RecordFile) -> str:
        return repr((*file.identity, file.source, self._intake.runs[file.identity].rollouts))


def _look_of(file: RecordFile) -> Look | None:
    """How a file looks; a temporary one that is known by its content has no date."""
    look = look_of(file.file)
    return look if look is None or file.real is not None else Look(look.size, 0, 0, 0)


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
