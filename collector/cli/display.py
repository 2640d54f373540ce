"""What people see while runs are in progress: a live table on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from collector.cli.columns import GAP, fitting
from collector.cli.summary import Session, Tally
from collector.errors import CollectorError
from collector.search import Progress
from collector.spec import RunSpec
from collector.sweep import State

PLAIN_EVERY: Final = 10
"""Iterations between reports of a run without a terminal."""
PLAIN_SECONDS: Final = 30.0
"""Seconds between them at most, while a real model answers."""

HEADINGS: Final = ("run", "iteration", "return", "best", "calls", "tokens", "tokens/s", "left")
"""Columns of the live table."""
LEAST_IMPORTANT: Final = ("tokens/s", "tokens", "calls", "return", "left")
"""Those that a narrow terminal lacks, the first one first."""


def choose_display(console: Console, runs: Sequence[State], *, quiet: bool) -> Quiet:
    """The display for these runs that fits where its output goes."""
    if quiet:
        return Quiet(console, runs)
    return Terminal(console, runs) if console.is_terminal else Plain(console, runs)


@dataclass
class _Line:
    """A run in flight."""

    progress: Progress
    began: float
    already: int
    reported: float
    tally: Tally = field(default_factory=Tally)

    def left(self, now: float) -> str | None:
        """The time that the run still takes, by that of its iterations so far."""
        done = self.progress.finished - self.already
        return _duration(now - self.began, done, self.progress.spec.iterations - self.progress.finished)

    def cells(self, now: float, *, with_condition: bool) -> dict[str, str]:
        """The run's row of the live table, by heading."""
        progress, spec = self.progress, self.progress.spec
        return {
            "run": f"{f'{spec.condition} ' if with_condition else ''}{spec.task.id} {spec.method.id} {spec.run}",
            "iteration": f"{progress.finished}/{spec.iterations}",
            "return": _number(progress.current),
            "best": _number(progress.best),
            "calls": str(progress.calls),
            "tokens": _count(progress.tokens),
            "tokens/s": _number(self.tally.rate),
            "left": self.left(now) or "–",
        }


class Quiet:
    """Shows failures only, and counts what is done.

    Args:
        console: where to print.
        runs: the runs to be completed, and what the disk holds of them.
    """

    is_quiet = True

    def __init__(self, console: Console, runs: Sequence[State]) -> None:
        self.console = console
        self.total = len(runs)
        self.runs_done = 0
        self.lines: dict[Path, _Line] = {}
        self.session = Session(resumed=sum(state.exists for state in runs))
        self._conditions = sorted({state.spec.condition for state in runs})
        self._began = time.monotonic()
        self._iterations_done = 0
        self._iterations_left = {state.spec.folder: state.spec.iterations - state.finished for state in runs}

    def left(self, now: float) -> str | None:
        """The time that all runs still take, by that of the iterations so far."""
        return _duration(now - self._began, self._iterations_done, sum(self._iterations_left.values()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def progress(self, progress: Progress) -> None:
        """Keep the numbers."""
        now, folder = time.monotonic(), progress.spec.folder
        line = self.lines.setdefault(folder, _Line(progress, now, progress.finished, now))
        self._iterations_done += progress.finished - line.progress.finished
        self._iterations_left[folder] = progress.spec.iterations - progress.finished
        self.session.add(
            progress,
            now,
            finished=progress.finished - line.progress.finished,
            skipped=progress.skipped - line.progress.skipped,
        )
        if progress.call is not None:
            line.tally.add(progress.call, now)
        line.progress = progress

    def finished(self, spec: RunSpec) -> None:
        """Count the run."""
        self._close(spec)
        self.runs_done += 1

    def failed(self, spec: RunSpec, error: CollectorError) -> None:
        """Print the reason."""
        self._close(spec)
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
            self.session.print(self.console, out, self.runs_done, self.total, seconds, stopped=stopped)

    def _close(self, spec: RunSpec) -> None:
        self.lines.pop(spec.folder, None)
        self._iterations_left.pop(spec.folder, None)


class Plain(Quiet):
    """One line now and then, for logs."""

    is_quiet = False

    def progress(self, progress: Progress) -> None:
        """Report every so many iterations, and a real model's run every so many seconds as well."""
        before = self.lines.get(progress.spec.folder)
        last = before.progress.finished if before else progress.finished
        super().progress(progress)
        line, now = self.lines[progress.spec.folder], time.monotonic()
        rate = line.tally.rate
        is_time = rate is not None and now - line.reported >= PLAIN_SECONDS
        if is_time or (progress.finished > last and progress.finished % PLAIN_EVERY == 0):
            line.reported = now
            self.note(
                f"{progress.spec.folder.as_posix()}: iteration {progress.finished}/{progress.spec.iterations}, "
                f"return {_number(progress.current)}, best {_number(progress.best)}, calls {progress.calls}"
                f"{_speed(rate, line.left(now))}"
            )

    def finished(self, spec: RunSpec) -> None:
        """Report that a run is complete, and how many are."""
        line = self.lines.get(spec.folder)
        super().finished(spec)
        best = f", best return {line.progress.best:.4g}" if line and line.progress.best is not None else ""
        self.note(f"complete: {spec.folder.as_posix()}{best} [{self.runs_done}/{self.total}]")


class Terminal(Quiet):
    """A live table: one line per run in flight, and one for all."""

    is_quiet = False

    def __enter__(self) -> Self:
        self._live = Live(get_renderable=self._render, console=self.console, refresh_per_second=4, transient=True)
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _render(self) -> Group:
        now, width = time.monotonic(), self.console.width
        with_condition = len(self._conditions) > 1
        # Never taller than the terminal: a table that scrolls cannot be redrawn in place.
        room = max(self.console.height - 6, 1)
        rows = [line.cells(now, with_condition=with_condition) for line in list(self.lines.values())[:room]]
        rate = self.session.tally.rate
        table = Table(box=None, pad_edge=False)
        of_tokens = set() if rate is not None else {"tokens", "tokens/s"}
        shown = fitting(rows, [name for name in HEADINGS if name not in of_tokens], LEAST_IMPORTANT, width)
        # Where there is too little room all the same, names of runs are cut, not numbers.
        numbers = sum(GAP + max(map(len, [name, *(row[name] for row in rows)])) for name in shown[1:])
        table.add_column("run", no_wrap=True, overflow="ellipsis", max_width=max(width - numbers, 1))
        for name in shown[1:]:
            table.add_column(name, justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*(Text(row[name]) for name in shown))
        hidden = len(self.lines) - len(rows)
        more = f", {hidden} more in flight" if hidden > 0 else ""
        done = f"{self.runs_done} of {self.total} runs complete{more}{_speed(rate, self.left(now))}"
        condition = [] if with_condition else [Text(f"condition {self._conditions[0]}", no_wrap=True)]
        return Group(*condition, table, Text(f"{done}; Ctrl-C stops, and nothing is lost"))


def _duration(spent: float, done: int, left: int) -> str | None:
    """The time that what is left takes, if it goes on like what is done."""
    return str(timedelta(seconds=round(spent / done * left))) if done else None


def _speed(rate: float | None, left: str | None) -> str:
    """How fast a real model answers, and for how long it will; nothing where it counts no tokens."""
    if rate is None:
        return ""
    return f", {rate:.1f} tokens a second" + (f", {left} left" if left else "")


def _count(tokens: int | None) -> str:
    return "–" if tokens is None else str(tokens) if tokens < 10_000 else f"{tokens / 1000:,.0f}k"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
