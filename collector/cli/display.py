"""What people see while runs are in progress: a live table on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from collector.errors import CollectorError
from collector.search import Progress
from collector.spec import RunSpec

PLAIN_EVERY: Final = 10
"""Without a terminal, a run is reported every so many iterations."""


def describe(spec: RunSpec) -> str:
    """A run's name for people."""
    return f"{spec.condition}/{spec.task.id}/{spec.method.id}/run-{spec.run:02d}"


def choose_display(console: Console, total: int, *, quiet: bool) -> Quiet:
    """The display for `total` runs that fits where its output goes."""
    if quiet:
        return Quiet(console, total)
    return Terminal(console, total) if console.is_terminal else Plain(console, total)


@dataclass
class _Line:
    """A run in flight."""

    progress: Progress
    began: float
    already: int

    def seconds_left(self, now: float) -> float | None:
        done = self.progress.finished - self.already
        if done == 0:
            return None
        return (now - self.began) / done * (self.progress.spec.iterations - self.progress.finished)


@dataclass
class Quiet:
    """Shows failures only."""

    console: Console
    total: int
    runs_done: int = 0
    lines: dict[tuple[object, ...], _Line] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def progress(self, progress: Progress) -> None:
        """Keep the numbers."""
        key = _key(progress.spec)
        if key in self.lines:
            self.lines[key].progress = progress
        else:
            self.lines[key] = _Line(progress, time.monotonic(), progress.finished)

    def finished(self, spec: RunSpec) -> None:
        """Count it."""
        self.lines.pop(_key(spec), None)
        self.runs_done += 1

    def failed(self, spec: RunSpec, error: CollectorError) -> None:
        """Say so."""
        self.lines.pop(_key(spec), None)
        self.console.print(Text(f"stopped: {describe(spec)}: {error}"), soft_wrap=True)

    def note(self, text: str) -> None:
        """Say it: it concerns data on the disk."""
        self.console.print(Text(text), soft_wrap=True)


class Plain(Quiet):
    """One line now and then, for logs."""

    def progress(self, progress: Progress) -> None:
        """Report every so many iterations."""
        before = self.lines.get(_key(progress.spec))
        last = before.progress.finished if before else progress.finished
        super().progress(progress)
        if progress.finished > last and progress.finished % PLAIN_EVERY == 0:
            self.console.print(Text(_plain(progress)), soft_wrap=True)

    def finished(self, spec: RunSpec) -> None:
        """Say that a run is complete, and how many are."""
        line = self.lines.get(_key(spec))
        super().finished(spec)
        best = f", best return {line.progress.best:.4g}" if line and line.progress.best is not None else ""
        self.console.print(Text(f"complete: {describe(spec)}{best} [{self.runs_done}/{self.total}]"), soft_wrap=True)


class Terminal(Quiet):
    """A live table: one line per run in flight, and one for all."""

    def __enter__(self) -> Self:
        self._live = Live(get_renderable=self._render, console=self.console, refresh_per_second=4, transient=True)
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _render(self) -> Group:
        now = time.monotonic()
        table = Table(box=None, pad_edge=False)
        table.add_column("run", overflow="ellipsis", no_wrap=True)
        for name in ("iteration", "return", "best", "calls", "tokens", "left"):
            table.add_column(name, justify="right", no_wrap=True)
        # Never taller than the terminal: a table that scrolls cannot be redrawn in place.
        for line in list(self.lines.values())[: max(self.console.height - 4, 1)]:
            table.add_row(*_cells(line, now))
        return Group(table, Text(f"{self.runs_done} of {self.total} runs complete; Ctrl-C stops, and nothing is lost"))


def _cells(line: _Line, now: float) -> list[str]:
    progress = line.progress
    left = line.seconds_left(now)
    return [
        describe(progress.spec),
        f"{progress.finished}/{progress.spec.iterations}",
        _number(progress.current),
        _number(progress.best),
        str(progress.calls),
        "–" if progress.tokens is None else str(progress.tokens),
        "–" if left is None else _duration(left),
    ]


def _plain(progress: Progress) -> str:
    return (
        f"{describe(progress.spec)}: iteration {progress.finished}/{progress.spec.iterations}, "
        f"return {_number(progress.current)}, best {_number(progress.best)}, calls {progress.calls}"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def _key(spec: RunSpec) -> tuple[object, ...]:
    return (spec.condition, spec.task.id, spec.method.id, spec.run)
