"""How far a long computation is, on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Final, Protocol

from audit.request import note

PATIENCE: Final = 30.0
"""Seconds between lines where there is no terminal."""


class Progress(Protocol):
    """Told what is done; once begun, it is ended."""

    def begin(self, total: int, what: str) -> None:
        """So many pieces of work are ahead."""

    def advance(self) -> None:
        """One more is done."""

    def end(self) -> None:
        """Nothing is left."""


class Told:
    """Says what is ahead, and how far it has come."""

    def __init__(self) -> None:
        self._total = self._done = 0
        self._what = ""
        self._began = self._said = 0.0

    def begin(self, total: int, what: str) -> None:
        """Say what is ahead, if anything is."""
        self._total, self._done, self._what = total, 0, what
        self._began = self._said = time.monotonic()
        if total:
            note(f"{total} {what}")

    def advance(self) -> None:
        """Say how far it is, if that was long ago."""
        self._done += 1
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if self._done < self._total and now - self._said > (0.5 if terminal else PATIENCE):
            self._said = now
            left = (now - self._began) / self._done * (self._total - self._done)
            line = f"{self._done} of {self._total}, {left:.0f} s left"
            if terminal:
                sys.stderr.write(f"\r\x1b[2Kaudit: {line}")
                sys.stderr.flush()
            else:
                note(line)

    def end(self) -> None:
        """Leave a clean line."""
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[2K")
