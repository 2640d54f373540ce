"""Standard streams that are closed or full when a program starts."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from pathlib import Path
from typing import NoReturn


class _Lossy(io.TextIOWrapper):
    """Standard error: what cannot be written there is lost, and no reason to stop."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            super().flush()


class _Closed(io.TextIOBase):
    """Standard output where there is none: a write to it is an error."""

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
        file = io.FileIO(2, "wb", closefd=False)
        sys.stderr = _Lossy(io.BufferedWriter(file), encoding, "backslashreplace", line_buffering=True)
