"""How far a long computation is, on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Final

PAUSE: Final = 0.5
"""Seconds between lines on a terminal, which replace each other."""
PATIENCE: Final = 30.0
"""Seconds between lines where there is no terminal."""


class Progress:
    """Follows a computation and prints nothing; once begun, it is ended."""

    def begin(self, total: int, what: str) -> None:
        """Start, with this many pieces of work ahead."""

    def advance(self) -> None:
        """Count one more piece as done."""

    def end(self) -> None:
        """Finish."""


SILENT: Final = Progress()


class PrintedProgress(Progress):
    """Prints what is ahead, and how much of it is done.

    Args:
        program: name at the beginning of each line.
    """

    def __init__(self, program: str = "audit") -> None:
        self._program = program
        self._total = self._done = 0
        self._what = ""
        self._began = self._said = 0.0

    def begin(self, total: int, what: str) -> None:
        """Print what is ahead, if anything is, and if it has a name."""
        self._total, self._done, self._what = total, 0, what
        self._began = self._said = time.monotonic()
        if total and what:
            self._print(f"{total} {what}")

    def advance(self) -> None:
        """Print the progress, unless it was just printed."""
        self._done += 1
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if self._done < self._total and now - self._said > (PAUSE if terminal else PATIENCE):
            self._said = now
            left = (now - self._began) / self._done * (self._total - self._done)
            line = f"{self._done} of {self._total}, {left:.0f} s left"
            if terminal:
                sys.stderr.write(f"\r\x1b[2K{self._program}: {line}")
                sys.stderr.flush()
            else:
                self._print(line)

    def end(self) -> None:
        """Leave a clean line."""
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[2K")

    def _print(self, line: str) -> None:
        sys.stderr.write(f"{self._program}: {line}\n")
        sys.stderr.flush()
