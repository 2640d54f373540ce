"""Running commands: the seconds and the memory that each takes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from audit.cache_folder import VARIABLE


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
