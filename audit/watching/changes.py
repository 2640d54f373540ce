"""Files below some folders that are new or were changed since the last look, found at little cost.

A file that is new changes the time of its folder, so folders are listed again only where that changed; those of runs
that have their records are not even looked at. Of many files the ones that changed last are looked at every time, and
all of them as often as a small share of a core allows.
"""

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

PAUSE: Final = 0.7
"""Seconds between two looks."""
SHARE: Final = 0.001
"""Share of a core that looking at all files takes at most, and listing all folders again likewise."""
LONGEST: Final = 10.0
"""Seconds between two looks at all files at most, however many there are."""
LISTED: Final = 60.0
"""Seconds between two listings of all folders at least; they find what changed no folder's time."""
SETTLED: Final = 2_000_000_000
"""Nanoseconds after which a folder's time tells later changes apart from those that a listing has seen."""
RECENT: Final = 50
"""Files that changed last, which are looked at every time."""
NATIVE: Final = "episodes.jsonl"
DESCRIPTION: Final = "run.json"
ENDINGS: Final = (".json", ".jsonl", ".jsonl.gz", ".sqlite", ".sqlite-wal", ".txt")
"""Of files that records are read from; beside native records, calls and truths are not."""

Stamp = tuple[int, int]
"""A file's size and time."""


def stamp_of(path: str | Path) -> Stamp | None:
    """How a file looks; None where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a path is an object that costs as much as the call
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


class Changes:
    """What changes below some folders.

    Args:
        roots: the folders; links to folders below them are not followed.
    """

    def __init__(self, roots: Collection[Path]) -> None:
        self._roots = [str(root) for root in roots]
        self._folders: dict[str, int] = {}
        self._complete: set[str] = set()
        self._stamps: dict[str, Stamp] = {}
        self._recent: list[str] = []
        self._next_listing = self._next_look = 0.0

    def look(self) -> set[Path]:
        """The files that are new or have another size or time than at the last look."""
        now = time.monotonic()
        if now >= self._next_listing:
            self._folders, self._complete = dict.fromkeys(self._roots, 0), set()
            found = set(self._listed())
            self._next_listing = now + max(LISTED, (time.monotonic() - now) / SHARE)
        else:
            found = set(self._listed())
        started = time.monotonic()
        is_whole = started >= self._next_look
        known = self._stamps if is_whole else self._stamps.keys() & self._recent
        changed = {path for path in found.union(known) if self._is_changed(path)}
        if is_whole:
            took = time.monotonic() - started
            self._next_look = started + min(LONGEST, max(PAUSE, took / SHARE))
        if changed:
            self._recent = heapq.nlargest(RECENT, self._stamps, key=lambda path: self._stamps[path][1])
        return {Path(path) for path in changed}

    @property
    def has_files(self) -> bool:
        """Whether there is any file that records may be read from."""
        return bool(self._stamps)

    def size_of(self, path: Path) -> int:
        """The size of a file at the last look; 0 where there is none."""
        return self._stamps.get(str(path), (0, 0))[0]

    def _is_changed(self, path: str) -> bool:
        stamp = stamp_of(path)
        if stamp is None:
            self._stamps.pop(path, None)  # if it comes back, it is new
            return False
        if self._stamps.get(path) == stamp:
            return False
        self._stamps[path] = stamp
        return True

    def _listed(self) -> Iterator[str]:
        """The files in folders that may have new ones."""
        pending = [*self._folders]
        while pending:
            folder = pending.pop()
            try:
                modified = os.stat(folder).st_mtime_ns  # noqa: PTH116 - as in `stamp_of`
                if self._folders.get(folder) == modified:
                    continue
                with os.scandir(folder) as entries:
                    inside = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
            except OSError:
                self._folders.pop(folder, None)
                continue
            is_run = DESCRIPTION in inside
            for name, is_folder in inside.items():
                path = f"{folder}{os.sep}{name}"
                if is_folder:
                    if path not in self._folders and path not in self._complete:
                        pending.append(path)
                elif name == NATIVE if is_run else name.endswith(ENDINGS):
                    yield path
                else:
                    self._stamps.pop(path, None)  # it counted before the folder was one of a run
            if is_run and NATIVE in inside:
                self._folders.pop(folder, None)
                self._complete.add(folder)
            else:
                self._folders[folder] = modified if time.time_ns() - modified > SETTLED else 0
