"""What people see while runs are in progress: bars on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.text import Text

from collector.cli.summary import Session
from collector.errors import CollectorError
from collector.search import Progress
from collector.spec import RunSpec
from collector.sweep import State

PLAIN_EVERY: Final = 10
"""Iterations between reports of a run without a terminal."""
PLAIN_SECONDS: Final = 30.0
"""Seconds between them at most, while it makes any progress."""


def choose_display(console: Console, runs: Sequence[State], *, quiet: bool) -> Quiet:
    """The display for these runs that fits where its output goes."""
    if quiet:
        return Quiet(console, runs)
    return Terminal(console, runs) if console.is_terminal else Plain(console, runs)


class Quiet:
    """Shows failures only, and counts what is done.

    Args:
        console: where to print.
        runs: the runs to be completed, and what the disk holds of them.
    """

    is_quiet = True

    def __init__(self, console: Console, runs: Sequence[State]) -> None:
        self.console = console
        self.runs = runs
        self.runs_done = 0
        self.last: dict[Path, Progress] = {}
        self.session = Session(resumed=sum(state.exists for state in runs))
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def progress(self, progress: Progress) -> None:
        """Keep the numbers."""
        before = self.last.get(progress.spec.folder, progress)
        self.last[progress.spec.folder] = progress
        finished, skipped = progress.finished - before.finished, progress.skipped - before.skipped
        self.session.add(progress, time.monotonic(), finished=finished, skipped=skipped)

    def finished(self, spec: RunSpec) -> None:  # noqa: ARG002
        """Count the run."""
        self.runs_done += 1

    def failed(self, spec: RunSpec, error: CollectorError) -> None:
        """Print the reason."""
        self.note(f"stopped: {spec.folder.as_posix()}: {error}")

    def note(self, text: str) -> None:
        """Print a line."""
        self.console.print(Text(text), soft_wrap=True)

    def summarize(self, out: Path, *, stopped: bool = False) -> None:
        """Print what was done, if anything was, unless only failures are shown.

        Args:
            out: folder that holds the conditions.
            stopped: whether runs are missing still.
        """
        if not self.is_quiet and (self.session.iterations or self.session.tally.calls or self.runs_done):
            seconds = time.monotonic() - self._began
            self.session.print(self.console, out, self.runs_done, len(self.runs), seconds, stopped=stopped)


class Plain(Quiet):
    """One line now and then, for logs."""

    is_quiet = False

    def __init__(self, console: Console, runs: Sequence[State]) -> None:
        super().__init__(console, runs)
        self._reported: dict[Path, float] = {}

    def progress(self, progress: Progress) -> None:
        """Report every so many iterations, and every so many seconds as well."""
        folder, now = progress.spec.folder, time.monotonic()
        before = self.last.get(folder, progress)
        super().progress(progress)
        is_time = now - self._reported.setdefault(folder, now) >= PLAIN_SECONDS
        if is_time or (progress.finished > before.finished and progress.finished % PLAIN_EVERY == 0):
            self._reported[folder] = now
            self.note(
                f"{folder.as_posix()}: iteration {progress.finished}/{progress.spec.iterations}, "
                f"return {_number(progress.current)}, best {_number(progress.best)}, calls {progress.calls}"
            )

    def finished(self, spec: RunSpec) -> None:
        """Report that a run is complete, and how many are."""
        super().finished(spec)
        last = self.last.get(spec.folder)
        best = f", best return {last.best:.4g}" if last and last.best is not None else ""
        self.note(f"complete: {spec.folder.as_posix()}{best} [{self.runs_done}/{len(self.runs)}]")


class Terminal(Quiet):
    """A bar for each run in flight, and one for the iterations of all."""

    is_quiet = False

    def __init__(self, console: Console, runs: Sequence[State]) -> None:
        super().__init__(console, runs)
        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[best]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        total = sum(state.spec.iterations for state in runs)
        self._all = self._bars.add_task("all runs", total=total, best="")
        self._bars.advance(self._all, sum(state.finished for state in runs))
        self._tasks: dict[Path, TaskID] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def progress(self, progress: Progress) -> None:
        """Advance the run's bar, and that of all."""
        spec, finished = progress.spec, progress.finished
        before = self.last.get(spec.folder, progress)
        super().progress(progress)
        if spec.folder not in self._tasks:
            self._tasks[spec.folder] = self._bars.add_task(spec.folder.as_posix(), total=spec.iterations, best="")
        self._bars.update(self._tasks[spec.folder], completed=finished, best=f"best {_number(progress.best)}")
        self._bars.advance(self._all, finished - before.finished)

    def finished(self, spec: RunSpec) -> None:
        """Remove the run's bar."""
        super().finished(spec)
        self._close(spec)

    def failed(self, spec: RunSpec, error: CollectorError) -> None:
        """Remove the run's bar, and print the reason."""
        super().failed(spec, error)
        self._close(spec)

    def _close(self, spec: RunSpec) -> None:
        if (task := self._tasks.pop(spec.folder, None)) is not None:
            self._bars.remove_task(task)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
