"""Running a command and watching its memory."""

from __future__ import annotations

import resource
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

INTERVAL = 0.1


@dataclass(slots=True)
class Watched:
    """A command that has ended: seconds it took, and the resident memory of it and all its children over time.

    Attributes:
        processor: seconds of processor time, of its children too; on a busy machine they say more.
        trace: pairs of seconds since the start and megabytes.
    """

    seconds: float
    processor: float
    trace: list[tuple[float, float]] = field(default_factory=list)

    @property
    def peak(self) -> float:
        """Most memory at any time, in megabytes."""
        return max((megabytes for _, megabytes in self.trace), default=float("nan"))


def watch(command: Sequence[str]) -> Watched:
    """Run a command to its end; its output is thrown away.

    Raises:
        CalledProcessError: it fails.
    """
    started, spent = time.perf_counter(), _spent()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    trace: list[tuple[float, float]] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(INTERVAL):
            trace.append((time.perf_counter() - started, memory(process.pid)))

    watcher = threading.Thread(target=look)
    watcher.start()
    _, errors = process.communicate()
    ended.set()
    watcher.join()
    seconds = time.perf_counter() - started
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=errors)
    return Watched(seconds, _spent() - spent, trace)


def _spent() -> float:
    """Processor seconds of all processes that were waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def memory(pid: int) -> float:
    """Megabytes resident in a process and all below it; shared pages count in each. Linux only, elsewhere NaN."""
    if not Path("/proc/self/task").exists():
        return float("nan")
    total, open_ = 0, [pid]
    while open_:
        process = Path(f"/proc/{open_.pop()}")
        try:
            total += int((process / "statm").read_text().split()[1])
            for task in (process / "task").iterdir():
                open_ += map(int, (task / "children").read_text().split())
        except (OSError, IndexError):
            continue  # it ended while we looked
    return total * 4096 / 1e6
