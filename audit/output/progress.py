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
    """Told what is done, and says nothing; once begun, it is ended."""

    def begin(self, total: int, what: str) -> None:
        """So many pieces of work are ahead."""

    def advance(self) -> None:
        """One more is done."""

    def end(self) -> None:
        """Nothing is left."""


SILENT: Final = Progress()


class Told(Progress):
    """Says what is ahead, and how far it has come.

    Args:
        program: whose lines they are.
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
            self._say(f"{total} {what}")

    def advance(self) -> None:
        """Say how far it is, if that was long ago."""
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
                self._say(line)

    def end(self) -> None:
        """Leave a clean line."""
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[2K")

    def _say(self, line: str) -> None:
        sys.stderr.write(f"{self._program}: {line}\n")
        sys.stderr.flush()
