"""The cache: what was made of a data set in one state, as one folder of Parquet files.

    <cache>/<digest of the paths>/<digest of the state>/
        records.parquet, run_records.parquet, skipped.parquet, logged_returns.parquet
        about.json             problems and notes of reading
        salience-5f3a….parquet a relation, with a digest of the options that it depends on

Files appear under their names when they are complete, and never change, so any number of audits can share them. All of
it can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Self

import msgspec
import platformdirs

from audit.output.errors import Problem

VARIABLE: Final = "SALIENCE_AUDIT_CACHE"
"""Environment variable that names another folder."""
UNUSED: Final = 90
"""Days after which what was not used is removed."""
DAY: Final = 86_400.0
IN_USE: Final = 3_600.0
"""Seconds for which an earlier state of a data set is left alone, since another audit may read it."""
LIMIT: Final = 10**9
"""Maximum bytes of the cache. Beyond them what was used least recently is removed first."""
SETTLED: Final = 2.0
"""Seconds for which files must have been left alone: a younger file may change and look the same."""

MARKS: Final = "audit-marks.jsonl"
"""The file beside records that the viewer writes while they are looked at: no relation depends on it."""
NOT_READ: Final = frozenset({"calls.jsonl", "truth.jsonl", MARKS})
"""Names of files whose content no relation depends on."""

_ABOUT: Final = "about.json"
_ROOT: Final = Path(__file__).parents[2]
_PACKAGES: Final = ("audit", "collector/system", "collector/records")


class About(msgspec.Struct, frozen=True):
    """What was found while reading: what was left out, and notes."""

    problems: list[Problem]
    notes: list[str]


class Cache:
    """The cache of one data set in its present state, made by `Cache.of`.

    Args:
        paths: the records.
        folder: of the data set in this state.
        state: a digest of the files' names, sizes and times.
    """

    def __init__(self, paths: Sequence[Path], folder: Path, state: str) -> None:
        self._paths = paths
        self._folder = folder
        self._state = state
        self._is_complete = False

    @classmethod
    def of(cls, places: Sequence[tuple[str, Path]]) -> Self | None:
        """The cache of some records.

        Args:
            places: folders, archives and packs, each by what people call it and where it is.

        Returns:
            Where results are cached; None where they cannot be: there is no such folder, or files change.
        """
        base = cache_folder()
        paths = [path for _, path in places]
        state, changed = state_of(paths) or ("", 0.0)
        if base is None or not state or abs(time.time() - changed) < SETTLED:
            return None
        asked = [[label, os.fspath(path)] for label, path in places]
        return cls(paths, base / "data" / digest_of(json.dumps(asked)) / state, state)

    def about(self) -> About | None:
        """What was found while reading; None where the data set was not read in this state."""
        try:
            about = msgspec.json.decode((self._folder / _ABOUT).read_bytes(), type=About)
        except (OSError, msgspec.MsgspecError):
            return None
        with contextlib.suppress(OSError):  # a read-only disk
            os.utime(self._folder)
        self._is_complete = True
        return about

    def begin(self, about: About) -> bool:
        """Begin to cache results of what was just read; False where files have changed meanwhile."""
        if (state_of(self._paths) or [None])[0] != self._state:
            return False
        part = self._part(_ABOUT)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.write_bytes(msgspec.json.encode(about))
            part.replace(self._folder / _ABOUT)
        except (OSError, UnicodeEncodeError):
            _remove(part)
            return False
        self._is_complete = True
        with contextlib.suppress(OSError):
            _tidy(self._folder)
        return True

    def take(self, name: str, directory: Path) -> Path | None:
        """The file of that name, in a directory where it stays when the cache is removed; None where there is none.

        On another file system than the directory's, it is the file in the cache itself.
        """
        path, own = self._folder / name, directory / f"cached-{name}"
        if not self._is_complete or not path.is_file():
            return None
        with contextlib.suppress(OSError):
            own.unlink(missing_ok=True)
            os.link(path, own)
            return own
        return path

    def add(self, path: Path) -> None:
        """Cache a complete file under its own name; nothing happens where the disk is full or read-only."""
        if not self._is_complete:
            return
        part = self._part(path.name)
        _remove(part)
        try:
            try:
                os.link(path, part)
            except OSError:  # another file system
                shutil.copyfile(path, part)
            part.replace(self._folder / path.name)
        except OSError:
            _remove(part)

    def remove(self, name: str) -> None:
        """Remove a file that turned out to be damaged."""
        _remove(self._folder / name)

    def _part(self, name: str) -> Path:
        return self._folder / f"{name}.{os.getpid()}.part"


def cache_folder() -> Path | None:
    """Where the cache is: from the environment, else where the platform keeps caches; None for no cache."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).absolute()
    usual = platformdirs.user_cache_path("salience-audit", appauthor=False)
    return usual if usual.is_absolute() else None


def digest_of(*parts: str | bytes) -> str:
    """A digest of some texts."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        content = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(b"%d " % len(content) + content)
    return digest.hexdigest()


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def state_of(paths: Sequence[Path]) -> tuple[str, float] | None:
    """A digest of how files are found now, and when the newest was changed; None where they cannot be looked at."""
    listed = hashlib.blake2b(_version().encode(), digest_size=16)
    newest = 0.0
    try:
        for path in paths:
            for name, found in _files(path):
                state = (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                listed.update(os.fsencode(f"{name}\0{state}\n"))
                newest = max(newest, found.st_mtime, found.st_ctime)
    except OSError:
        return None
    return listed.hexdigest(), newest


def _files(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """All files below a folder, or the file, in a fixed order."""

    def refuse(error: OSError) -> None:
        raise error

    if not path.is_dir():
        yield os.fspath(path), path.stat()
        return
    for folder, folders, names in os.walk(path, onerror=refuse):
        folders.sort()
        # A folder that is named like a file is a problem of reading.
        for name in (*sorted({*names} - NOT_READ), *(each for each in folders if "." in each)):
            place = os.path.join(folder, name)  # noqa: PTH118 - ten times as fast
            try:
                yield place, os.stat(place)  # noqa: PTH116
            except FileNotFoundError:  # a link to nothing
                yield place, os.lstat(place)


@functools.cache
def _version() -> str:
    """What results depend on beside the data: when the program's files were written, and packages were installed."""
    installed = os.stat(Path(msgspec.__file__).parents[1]).st_mtime_ns  # noqa: PTH116
    newest = 0
    for package in _PACKAGES:
        for folder, _, names in os.walk(_ROOT / package):
            for name in names:
                if name.endswith((".py", ".sql", ".toml")):
                    newest = max(newest, os.stat(os.path.join(folder, name)).st_mtime_ns)  # noqa: PTH116, PTH118
    return f"{newest} {installed}"


def _tidy(in_use: Path) -> None:
    """Remove what was not used for long, earlier states of a data set, and what is beyond the limit; once a day."""
    base = in_use.parents[1]
    for state in in_use.parent.iterdir():
        with contextlib.suppress(OSError):
            if state != in_use and time.time() - state.stat().st_mtime > IN_USE:
                shutil.rmtree(state, ignore_errors=True)
    stamp = base / "tidied"
    with contextlib.suppress(OSError):
        if time.time() - stamp.stat().st_mtime < DAY:
            return
    found: list[tuple[float, int, Path]] = []
    with contextlib.suppress(OSError):
        stamp.touch()
        for state in base.glob("*/*"):
            size = sum(path.stat().st_size for path in state.iterdir())
            found.append((state.stat().st_mtime, size, state))
    excess = sum(size for _, size, _ in found) - LIMIT
    for used, size, state in sorted(found):
        if state != in_use and (excess > 0 or time.time() - used > UNUSED * DAY):
            shutil.rmtree(state, ignore_errors=True)
            with contextlib.suppress(OSError):
                state.parent.rmdir()
            excess -= size
