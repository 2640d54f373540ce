"""Timing ways of doing the same, and commands: the seconds and the memory that each takes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from audit.records.cache import VARIABLE

REPETITIONS = 5
SHORTEST = 0.01
"""Seconds that a timing must last; quicker ways are repeated."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Best times in seconds of our way and of the alternative's, taken alternately."""

    name: str
    ours: float
    alternative: float

    @property
    def ratio(self) -> float:
        """How many times as fast we are."""
        return self.alternative / self.ours


def compare(name: str, ours: Callable[[], object], alternative: Callable[[], object]) -> Comparison:
    """Time both."""
    return Comparison(name, *best_times(ours, alternative))


def best_times(*ways: Callable[[], object]) -> list[float]:
    """Seconds that each way takes: the best of several, taken in turns, so that a busy moment hits all alike."""
    repeats = [_repeats(way) for way in ways]
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(REPETITIONS):
        for way, count, taken in zip(ways, repeats, times, strict=True):
            started = time.perf_counter()
            for _ in range(count):
                way()
            taken.append((time.perf_counter() - started) / count)
    return [min(taken) for taken in times]


def _repeats(way: Callable[[], object]) -> int:
    way()  # what is done once (compiling, opening) is not what is measured
    started = time.perf_counter()
    way()
    return max(1, int(SHORTEST / (time.perf_counter() - started)))


class Spent(NamedTuple):
    """What a command took.

    Attributes:
        seconds: from its start to its end.
        processor: seconds of processor time, of its children too; on a busy machine they say more.
        megabytes: most resident memory of one of its processes.
    """

    seconds: float
    processor: float
    megabytes: float


def spent(words: Sequence[str]) -> Spent:
    """Run a command to its end; what it prints is thrown away.

    Raises:
        CalledProcessError: it fails.
    """
    started = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return Spent(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def program(name: str, *words: object) -> list[str]:
    """A command of this project, of the environment that runs the benchmark."""
    return [str(Path(sys.executable).with_name(name)), *map(str, words)]


@contextmanager
def cache_in(folder: Path) -> Iterator[None]:
    """Have commands keep their cache in a folder of its own."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(folder)
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before
