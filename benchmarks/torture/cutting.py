"""Runs a command until the power is cut: `python -m benchmarks.torture.cutting EVENT SEED COUNT PROGRAM ARGUMENTS…`.

What a disk promises is what was synced. Before the given event (a sync, a rename, a removal; they are counted from 1)
the process ends, and of every file in its folder what was written since the last sync is lost, in part or whole, or
zeros, or left as it is. With event 0 nothing is cut, and the number of events is written to the file COUNT.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.torture.trial import COMMANDS


class Disk:
    """What of the files below a folder is on the disk."""

    def __init__(self, root: Path, cut_at: int, rng: Random) -> None:
        self.events = 0
        self._root, self._cut_at, self._rng = root, cut_at, rng
        self._owner = os.getpid()
        self._synced = {self._key(path): path.stat().st_size for path in self._files()}
        self._times = {self._key(path): path.stat().st_mtime_ns for path in self._files()}

    def event(self) -> None:
        """Something that orders what reaches the disk is about to happen."""
        if os.getpid() != self._owner:
            return
        self.events += 1
        if self.events == self._cut_at:
            for path in self._files():
                self._damage(path)
            os._exit(99)

    def synced(self, descriptor: int) -> None:
        """A file is on the disk as it is now."""
        facts = os.fstat(descriptor)
        self._synced[facts.st_dev, facts.st_ino] = facts.st_size
        self._times[facts.st_dev, facts.st_ino] = facts.st_mtime_ns

    def _files(self) -> list[Path]:
        return sorted(path for path in self._root.rglob("*") if path.is_file() and not path.is_symlink())

    @staticmethod
    def _key(path: Path) -> tuple[int, int]:
        facts = path.stat()
        return facts.st_dev, facts.st_ino

    def _damage(self, path: Path) -> None:
        size, synced = path.stat().st_size, self._synced.get(self._key(path), 0)
        if synced == size and self._times.get(self._key(path)) != path.stat().st_mtime_ns:
            synced = 0  # written over
        if size <= synced:
            return
        kept = self._rng.choice((synced, size, self._rng.randint(synced, size)))
        with path.open("r+b") as file:
            if self._rng.random() < 0.5:
                file.truncate(kept)
            else:
                file.seek(kept)
                file.write(bytes(size - kept))


def main() -> None:
    """Run the command with the calls that matter watched."""
    event, seed, count, program, *arguments = sys.argv[1:]
    disk = Disk(Path.cwd(), int(event), Random(seed))

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def instead(*given: Any, **named: Any) -> Any:
            disk.event()
            return call(*given, **named)

        return instead

    sync = os.fsync

    def fsync(descriptor: Any) -> None:
        disk.event()
        sync(descriptor)
        disk.synced(descriptor if isinstance(descriptor, int) else descriptor.fileno())

    os.fsync = fsync  # type: ignore[assignment]
    for name in ("rename", "replace", "unlink", "remove", "rmdir", "truncate", "ftruncate"):
        setattr(os, name, watched(getattr(os, name)))
    sys.argv = [program, *arguments]
    try:
        importlib.import_module(COMMANDS[program]).main()
    finally:
        disk.event()  # the power may go just after the last of them, too
        Path(count).write_text(str(disk.events))


if __name__ == "__main__":
    main()
