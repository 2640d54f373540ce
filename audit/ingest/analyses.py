"""Results of analyses, kept from one audit to the next, so that an unchanged data set is not even read.

Below the cache's folder each data set has a folder of its own for each set of options, named by a digest; in it is one
for the state in which its files were found, and in that one a small database for each relation. The name of every file
ends with a digest of its content and of whose it is, so that neither what is damaged nor what is another's is taken for
what was kept. Files appear under their names when they are complete and never change, so any number of audits can share
them. All of it can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import msgspec

from audit.cache_folder import DAY, SETTLED, UNUSED, cache_folder, digest_of
from audit.ingest.version import version
from audit.output.errors import Problem

SMALLEST: Final = 2**20
"""Bytes of files from which on an analysis is kept: fewer are analysed about as fast."""
MOST_UNSETTLED: Final = 2**28
"""Bytes of files just changed of which digests are taken; where there are more, nothing is kept yet."""
MOST: Final = 10**9
"""Bytes in total; beyond them the least recently used analyses are removed first."""

MARKS: Final = "audit-marks.jsonl"
"""The file beside records that the viewer writes while they are looked at: no result of an analysis depends on it."""
NOT_READ: Final = ("/calls.jsonl", "/truth.jsonl")
"""Ends of the paths of files of which nothing matters but whether they are there."""

_FOLDER: Final = "analyses"
_CONTENTS: Final = "contents"


class Contents(msgspec.Struct, frozen=True):
    """What holds for all relations: what was left out, notes, and digests of files that had just been changed."""

    problems: list[Problem]
    notes: list[str]
    digests: dict[str, str]


class _State(msgspec.Struct, frozen=True):
    """The state of a data set: a digest of its files' names and metadata, and of the content of the newest."""

    digest: str
    digests: dict[str, str]


class Analysis:
    """The kept analysis of one data set, made by `Analysis.of`.

    Args:
        paths: the records.
        folder: of the data set, as it is now.
        state: in which its files were found.
    """

    def __init__(self, paths: Sequence[Path], folder: Path, state: _State) -> None:
        self._paths = paths
        self._folder = folder
        self._state = state
        self._files = _files_in(folder)
        self._is_writable = False
        contents = self._contents()
        self.problems = None if contents is None else contents.problems
        self.notes = [] if contents is None else contents.notes
        if contents is None:
            self._files = {}
        else:
            self._is_writable = True
            with contextlib.suppress(OSError):
                os.utime(folder)

    @classmethod
    def of(cls, paths: Sequence[Path], options: Mapping[str, object]) -> Self | None:
        """The analysis of some paths under some options.

        Args:
            paths: folders, archives and packs.
            options: all that results depend on beside the records.

        Returns:
            Where it is or can be kept; None if there is no cache, or the data set is too small.
        """
        base = cache_folder()
        state = _state(paths)
        if base is None or state is None:
            return None
        asked = [[str(path), os.fspath(path.absolute())] for path in paths], options, version()
        data_set = digest_of(json.dumps(asked, sort_keys=True).encode())
        return cls(paths, base / _FOLDER / data_set / state.digest, state)

    def begin(self, problems: Sequence[Problem], notes: Sequence[str]) -> None:
        """Keep relations from here on, unless files have changed while the records were read."""
        if self._is_writable or _state(self._paths, self._state.digests) != self._state:
            return
        with contextlib.suppress(OSError, UnicodeEncodeError):
            before = list(self._folder.parent.iterdir()) if self._folder.parent.is_dir() else []
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            contents = msgspec.json.encode(Contents(list(problems), list(notes), self._state.digests))
            self._publish(_CONTENTS, contents)
            self._is_writable = True
            for each in before:
                if each != self._folder:
                    shutil.rmtree(each, ignore_errors=True)
            _tidy(self._folder.parents[1], self._folder)

    def find(self, name: str) -> Path | None:
        """The database in which a relation was kept, whole; None if there is none."""
        return self._files[name] if self._content(name) is not None else None

    @contextlib.contextmanager
    def room(self, name: str) -> Iterator[Path | None]:
        """Where a relation can be written; it is kept under its name afterwards. None if it cannot."""
        if not self._is_writable:
            yield None
            return
        part = self._folder / f"{uuid.uuid4().hex}.part"
        try:
            yield part
            with contextlib.suppress(OSError):
                self._publish(name, part.read_bytes())
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def _publish(self, name: str, content: bytes) -> None:
        part = self._folder / f"{uuid.uuid4().hex}.part"
        part.write_bytes(content)
        self._files[name] = part.replace(self._folder / f"{name}.{self._digest(name, content)}")

    def _digest(self, name: str, content: bytes) -> str:
        return digest_of(content, self._folder.parent.name, self._folder.name, name)

    def _contents(self) -> Contents | None:
        content = self._content(_CONTENTS)
        if content is None:
            return None
        try:
            contents = msgspec.json.decode(content, type=Contents)
        except msgspec.MsgspecError:
            return None
        return contents if contents.digests == _digests(contents.digests) else None

    def _content(self, name: str) -> bytes | None:
        """The content of a file whose name has its digest; None where there is none. A damaged file is removed."""
        try:
            path = self._files[name]
            content = path.read_bytes()
        except (KeyError, OSError):
            return None
        if path.name == f"{name}.{self._digest(name, content)}":
            return content
        with contextlib.suppress(OSError):
            path.unlink()
        return None


def _state(paths: Sequence[Path], known: Mapping[str, str] | None = None) -> _State | None:
    """How files are found now; None where some of them cannot be looked at, or there is too little.

    Args:
        paths: folders and files.
        known: files of which digests are taken; without it, those that were changed a moment ago.
    """
    listed = hashlib.blake2b(digest_size=16)
    now = time.time_ns()
    fresh: list[str] = []
    size = unsettled = 0
    try:
        for path in paths:
            for name, found in _found(path):
                if name.endswith(f"/{MARKS}"):
                    continue
                if name.endswith(NOT_READ):
                    listed.update(os.fsencode(f"{name}\0"))
                    continue
                size += found.st_size
                look = (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
                listed.update(os.fsencode(f"{name}\0{look}\n"))
                if now - max(found.st_mtime_ns, found.st_ctime_ns) < SETTLED and stat.S_ISREG(found.st_mode):
                    fresh.append(name)
                    unsettled += found.st_size
    except OSError:
        return None
    if size < SMALLEST or unsettled > MOST_UNSETTLED:
        return None
    digests = _digests(fresh if known is None else known)
    return None if digests is None else _State(listed.hexdigest(), digests)


def _found(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """All that is below a folder, itself included, or a file, in a fixed order."""

    def refuse(error: OSError) -> None:
        raise error

    if not path.is_dir():
        yield os.fspath(path), path.stat()
        return
    for folder, folders, names in os.walk(path, onerror=refuse):
        folders.sort()
        for name in (*sorted(names), *(each for each in folders if "." in each)):
            place = os.path.join(folder, name)  # noqa: PTH118 - ten times as fast
            try:
                yield place, os.stat(place)  # noqa: PTH116
            except FileNotFoundError:  # a link to nothing
                yield place, os.lstat(place)


def _digests(names: Sequence[str] | Mapping[str, str]) -> dict[str, str] | None:
    """Digests of files' contents; None where one cannot be read."""
    found: dict[str, str] = {}
    for name in names:
        try:
            with open(name, "rb") as stream:  # noqa: PTH123
                found[name] = hashlib.file_digest(stream, "blake2b").hexdigest()
        except OSError:
            return None
    return found


def _files_in(folder: Path) -> dict[str, Path]:
    try:
        return {path.name.partition(".")[0]: path for path in folder.iterdir() if path.suffix != ".part"}
    except OSError:
        return {}


def _tidy(base: Path, in_use: Path) -> None:
    """Remove analyses that have not been used for long, and those beyond the size limit."""
    for part in base.glob("*/*/*.part"):  # what a killed audit has left
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > DAY:
                part.unlink()
    kept: list[tuple[float, int, Path]] = []
    for folder in base.glob("*/*"):
        with contextlib.suppress(OSError):
            size = sum(path.stat().st_size for path in folder.iterdir())
            kept.append((folder.stat().st_mtime, size, folder))
    excess = sum(size for _, size, _ in kept) - MOST
    for used, size, folder in sorted(kept):
        if folder != in_use and (excess > 0 or time.time() - used > UNUSED * DAY):
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                folder.parent.rmdir()
            excess -= size
