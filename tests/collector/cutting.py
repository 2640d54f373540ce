"""Runs a command until the power is cut: `python -m tests.collector.cutting EVENT SEED COUNT PROGRAM ARGUMENTS…`.

What a disk promises is what was synced. Before the given event (a sync, a rename, a removal; they are counted from 1)
the process ends, and of every file in its folder what was written since the last sync is lost, in part or whole, or
zeros, or left as it is. With event 0 nothing is cut, and the number of events is written to the file COUNT.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any


class Disk:
    """What of the files in the working folder is on the disk."""

    def __init__(self, cut_at: int, rng: Random) -> None:
        self.events, self._cut_at, self._rng, self._owner = 0, cut_at, rng, os.getpid()
        self.lock = threading.RLock()
        """Held from before an event to its effect: no other thread goes on while the power goes."""
        self._synced = {self._key(path.stat()): path.stat() for path in self._files()}

    def event(self) -> None:
        """Something that orders what reaches the disk is about to happen."""
        if os.getpid() == self._owner:
            self.events += 1
            if self.events == self._cut_at:
                for path in self._files():
                    self._damage(path)
                os._exit(99)

    def synced(self, descriptor: int) -> None:
        """A file is on the disk as it is now."""
        facts = os.fstat(descriptor)
        self._synced[self._key(facts)] = facts

    def _files(self) -> list[Path]:
        return sorted(path for path in Path.cwd().rglob("*") if path.is_file() and not path.is_symlink())

    @staticmethod
    def _key(facts: os.stat_result) -> tuple[int, int]:
        return facts.st_dev, facts.st_ino

    def _damage(self, path: Path) -> None:
        now = path.stat()
        then = self._synced.get(self._key(now))
        safe = then.st_size if then else 0
        if then and safe == now.st_size and then.st_mtime_ns != now.st_mtime_ns:
            safe = 0  # written over
        if now.st_size > safe:
            kept = self._rng.choice((safe, now.st_size, self._rng.randint(safe, now.st_size)))
            data = path.read_bytes()[:kept]
            path.write_bytes(data if self._rng.random() < 0.5 else data.ljust(now.st_size, b"\0"))


def main() -> None:
    """Run the command with the calls that matter watched."""
    event, seed, count, program, *arguments = sys.argv[1:]
    disk = Disk(int(event), Random(seed))
    sync = os.fsync

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def instead(*given: Any, **named: Any) -> Any:
            with disk.lock:
                disk.event()
                return call(*given, **named)

        return instead

    def fsync(descriptor: Any) -> None:
        with disk.lock:
            disk.event()
            sync(descriptor)
            disk.synced(descriptor if isinstance(descriptor, int) else descriptor.fileno())

    os.fsync = fsync  # type: ignore[assignment]
    for name in ("rename", "replace", "unlink", "remove", "rmdir", "truncate", "ftruncate"):
        setattr(os, name, watched(getattr(os, name)))
    sys.argv = [program, *arguments]
    try:
        importlib.import_module(f"{'collector' if program == 'collect' else program}.cli").main()
    finally:
        disk.event()  # the power may go just after the last of them, too
        Path(count).write_text(str(disk.events))


if __name__ == "__main__":
    main()
