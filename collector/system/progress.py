"""How far a long computation is, on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Final, Self, TypeVar

DELAY: Final = 2.0
"""Seconds of work before anything moves."""
PAUSE: Final = 0.25
"""Seconds between updates of a bar."""
PATIENCE: Final = 30.0
"""Seconds between lines where there is no terminal."""
WIDEST: Final = 40
"""Columns of a bar at most."""
BESIDE: Final = 22
"""Columns for the numbers beside a bar."""

T = TypeVar("T")

_outermost = threading.Lock()
"""Held by the computation that is followed: one that is part of it reports nothing of its own."""


class Progress:
    """Follows a computation and prints nothing; a context manager that ends it."""

    def begin(self, total: int, what: str, *, counted: bool = True) -> None:
        """Start, with this much work ahead.

        Args:
            total: amount of work; 0 where it is unknown.
            what: what is counted, in the plural, or nothing; what is done, where nothing is counted.
            counted: whether the amount is a number of pieces that mean something to a user; otherwise it is shown as a
                percentage.
        """

    def advance(self, amount: int = 1) -> None:
        """Count some more work as done."""

    def end(self) -> None:
        """Finish."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()


SILENT: Final = Progress()


class PrintedProgress(Progress):
    """Prints how much work there is, and from `DELAY` seconds on how much of it is done.

    A thread of its own prints, so that a single long step is seen to be under way as well.

    Args:
        program: name at the beginning of each line.
    """

    def __init__(self, program: str = "audit") -> None:
        self._program = program
        self._total = self._done = 0
        self._what = ""
        self._counted = True
        self._began = 0.0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, total: int, what: str, *, counted: bool = True) -> None:
        """Print how many pieces of work there are, if they are counted, and start to follow them."""
        self.end()
        self._total, self._done, self._what, self._counted = total, 0, what, counted
        self._began = time.monotonic()
        if total and what and counted:
            self._print(f"{total} {what}")
        if not _outermost.acquire(blocking=False):
            return
        self._ended.clear()
        self._thread = threading.Thread(target=self._follow, name="progress", daemon=True)
        self._thread.start()
        # A bar hides the cursor: whatever ends the program, it comes back.
        atexit.register(self.end)

    def advance(self, amount: int = 1) -> None:
        """Count some more work as done."""
        self._done += amount

    def end(self) -> None:
        """Remove the bar."""
        if self._thread is not None:
            self._ended.set()
            self._thread.join()
            self._thread = None
            _outermost.release()
            atexit.unregister(self.end)

    def line(self, now: float) -> str:
        """How much is done, and the time that is left by the pace so far.

        Args:
            now: seconds, as `time.monotonic` counts them.
        """
        spent = now - self._began
        if not self._done or not self._total:
            return f"{self._what or self._total}, {_duration(spent)} so far"
        left = _duration(spent / self._done * max(self._total - self._done, 0))
        if self._counted:
            return f"{self._done} of {self._total} {self._what}".rstrip() + f", {left} left"
        return f"{self._what}: {min(self._done / self._total, 1):.0%}, {left} left"

    def _follow(self) -> None:
        if self._ended.wait(DELAY):
            return
        if sys.stderr.isatty():
            self._draw()
        else:
            while not self._ended.wait(PATIENCE):
                self._print(self.line(time.monotonic()))

    def _draw(self) -> None:
        # Imported here, since most commands end before anything is drawn.
        from rich import progress
        from rich.console import Console

        console = Console(stderr=True, highlight=False)
        title = self._what.partition(",")[0]
        width = max(console.width - len(self._program) - len(title) - BESIDE, 4)
        number = progress.MofNCompleteColumn() if self._counted else progress.TaskProgressColumn()
        columns = (
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(min(width, WIDEST)),
            number,
            progress.TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        )
        # Standard output is left alone: results go there.
        bar = progress.Progress(*columns, console=console, transient=True, redirect_stdout=False, auto_refresh=False)
        with bar:
            task = bar.add_task(f"{self._program}: {title}", total=None)
            while not self._ended.wait(PAUSE):
                # Without a total the bar pulses.
                total = self._total if self._done or self._counted else None
                bar.update(task, completed=self._done, total=total or None, refresh=True)

    def _print(self, line: str) -> None:
        sys.stderr.write(f"{self._program}: {line}\n")
        sys.stderr.flush()


def tracked(items: Sequence[T], what: str) -> Iterator[T]:
    """The items, with the share of them that is done.

    Args:
        items: each is some work for the caller.
        what: what is done with them.
    """
    with PrintedProgress() as progress:
        progress.begin(len(items), what, counted=False)
        for item in items:
            yield item
            progress.advance()


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
