"""What could not be recorded: never an exception of the loop that is recorded, and never silence."""

from __future__ import annotations

import functools
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec

TROUBLES: Final = "troubles.jsonl"
PRINTED: Final = 5
"""Troubles that are printed one by one; those after them are in the file and counted at the end."""

_P = ParamSpec("_P")


class Troubles:
    """The troubles of one recorder.

    Attributes:
        count: how many there are.
    """

    def __init__(self, folder: Path) -> None:
        self.count = 0
        self._lock = threading.Lock()
        self._path = folder / TROUBLES

    def note(self, event: str, message: str) -> None:
        """Write down one trouble; a disk that has no room for it still leaves the line on standard error."""
        with self._lock:
            self.count += 1
            try:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"event": event, "trouble": message}) + "\n")
            except OSError as error:
                message = f"{message} (and {self._path} cannot be written: {error.strerror or error})"
            if self.count <= PRINTED:
                _print(f"{event}: {message}; the loop goes on")

    def summarize(self) -> None:
        """Print how many troubles there were, if there were any."""
        if self.count:
            counted = "1 trouble" if self.count == 1 else f"{self.count} troubles"
            _print(f"{counted}: the records are incomplete; see {self._path}")


def guarded(method: Callable[Concatenate[Any, _P], None]) -> Callable[Concatenate[Any, _P], None]:
    """A method of an object with `troubles`, of which its exceptions become some. Ctrl-C and exits pass."""

    @functools.wraps(method)
    def call(self: Any, /, *args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            self.troubles.note(method.__name__, f"{type(error).__name__}: {error}")

    return call


def _print(message: str) -> None:
    # Standard error may be closed, and what is printed must not stop the loop either.
    try:
        print(f"audit.recorders: {message}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        return
