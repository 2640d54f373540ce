"""What people see while runs are in progress: a live table on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
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
"""Iterations between reports of a run without a terminal."""


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

    def cells(self, now: float) -> list[str]:
        """The run's row of the live table."""
        progress, done = self.progress, self.progress.finished - self.already
        left = progress.spec.iterations - progress.finished
        return [
            progress.spec.folder.as_posix(),
            f"{progress.finished}/{progress.spec.iterations}",
            _number(progress.current),
            _number(progress.best),
            str(progress.calls),
            "–" if progress.tokens is None else str(progress.tokens),
            str(timedelta(seconds=round((now - self.began) / done * left))) if done else "–",
        ]


@dataclass
class Quiet:
    """Shows failures only."""

    console: Console
    total: int
    runs_done: int = 0
    lines: dict[Path, _Line] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def progress(self, progress: Progress) -> None:
        """Keep the numbers."""
        line = self.lines.setdefault(progress.spec.folder, _Line(progress, time.monotonic(), progress.finished))
        line.progress = progress

    def finished(self, spec: RunSpec) -> None:
        """Count the run."""
        self.lines.pop(spec.folder, None)
        self.runs_done += 1

    def failed(self, spec: RunSpec, error: CollectorError) -> None:
        """Print the reason."""
        self.lines.pop(spec.folder, None)
        self.note(f"stopped: {spec.folder.as_posix()}: {error}")

    def note(self, text: str) -> None:
        """Print a line."""
        self.console.print(Text(text), soft_wrap=True)


class Plain(Quiet):
    """One line now and then, for logs."""

    def progress(self, progress: Progress) -> None:
        """Report every so many iterations."""
        before = self.lines.get(progress.spec.folder)
        last = before.progress.finished if before else progress.finished
        super().progress(progress)
        if progress.finished > last and progress.finished % PLAIN_EVERY == 0:
            self.note(
                f"{progress.spec.folder.as_posix()}: iteration {progress.finished}/{progress.spec.iterations}, "
                f"return {_number(progress.current)}, best {_number(progress.best)}, calls {progress.calls}"
            )

    def finished(self, spec: RunSpec) -> None:
        """Report that a run is complete, and how many are."""
        line = self.lines.get(spec.folder)
        super().finished(spec)
        best = f", best return {line.progress.best:.4g}" if line and line.progress.best is not None else ""
        self.note(f"complete: {spec.folder.as_posix()}{best} [{self.runs_done}/{self.total}]")


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
            table.add_row(*line.cells(now))
        return Group(table, Text(f"{self.runs_done} of {self.total} runs complete; Ctrl-C stops, and nothing is lost"))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
