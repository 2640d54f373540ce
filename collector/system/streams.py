"""Standard streams that are closed or full when a program starts."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path
from typing import NoReturn


class _Lossy(io.FileIO):
    """Standard error: what cannot be written there is lost, and no reason to stop."""

    def write(self, data: object) -> int:
        try:
            return super().write(data) or 0  # type: ignore[arg-type] # a buffer, of which there is no type before 3.12
        except OSError:
            return len(memoryview(data))  # type: ignore[arg-type]


class _Closed(io.TextIOBase):
    """Standard output where there is none: whoever has something to write is told."""

    encoding = "utf-8"

    def write(self, _: str) -> NoReturn:
        raise OSError(errno.EBADF, "standard output is closed")


def keep_streams() -> None:
    """Begin a program so that the state of its standard streams is reported in one line, or makes no difference.

    A closed one gets a file that is nowhere, since the next file to be opened would have its number otherwise, and
    Python has no object for it. Messages that standard error cannot take are lost.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open()  # noqa: SIM115 - as long as the program
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        encoding = getattr(sys.stderr, "encoding", "utf-8")
        lossy = io.BufferedWriter(_Lossy(2, "wb", closefd=False))
        sys.stderr = io.TextIOWrapper(lossy, encoding, "backslashreplace", line_buffering=True)
