"""What a call of `collect` has done: runs, best returns, time, calls, tokens, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from collector.records import Call
from collector.search import Progress

SILENT: Final = (
    "see the reasons in calls.jsonl: a larger --max-tokens if answers are cut off, --structured if the form of answers "
    "is free, or another model"
)
"""What to do where nothing was proposed."""
NEXT: Final = ("check", "salience", "view")
"""Commands of the audit to go on with."""


@dataclass
class Tally:
    """Calls that were made, added up; tokens are None where the backend counts none."""

    calls: int = 0
    unreadable: int = 0
    last_error: str = ""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    _busy: list[tuple[float, float]] = field(default_factory=list)

    @property
    def rate(self) -> float | None:
        """Tokens of answers per second in which some call was in flight."""
        seconds = sum(end - began for began, end in self._busy)
        return self.answer_tokens / seconds if self.answer_tokens is not None and seconds > 0 else None

    def add(self, call: Call, now: float) -> None:
        """Count a call that has just ended.

        Args:
            call: its record.
            now: seconds on the clock by which calls are timed.
        """
        self.calls += 1
        self.unreadable += call.error is not None
        self.last_error = call.error or self.last_error
        self.prompt_tokens = _sum(self.prompt_tokens, call.prompt_tokens)
        self.answer_tokens = _sum(self.answer_tokens, call.completion_tokens)
        # Calls overlap: time in which several are in flight counts once.
        began = now - call.seconds
        while self._busy and self._busy[-1][1] >= began:
            began = min(began, self._busy.pop()[0])
        self._busy.append((began, now))


@dataclass
class Session:
    """What one call of `collect` has done.

    Attributes:
        resumed: runs that an earlier session began.
        iterations: iterations that were finished.
        skipped: those that proposed nothing.
        best: the progress of the best run of each task and method.
    """

    resumed: int = 0
    iterations: int = 0
    skipped: int = 0
    tally: Tally = field(default_factory=Tally)
    best: dict[tuple[str, str], Progress] = field(default_factory=dict)

    def add(self, progress: Progress, now: float, *, finished: int, skipped: int) -> None:
        """Count what a run reports.

        Args:
            progress: of the run.
            now: as for `Tally.add`.
            finished: iterations finished since its last report.
            skipped: those of them that proposed nothing.
        """
        self.iterations += finished
        self.skipped += skipped
        if progress.call is not None:
            self.tally.add(progress.call, now)
        cell = progress.spec.task.id, progress.spec.method.id
        known = self.best.get(cell)
        if progress.best is not None and (known is None or known.best is None or progress.best > known.best):
            self.best[cell] = progress

    def print(self, console: Console, out: Path, complete: int, asked: int, seconds: float, *, stopped: bool) -> None:
        """Print the summary.

        Args:
            console: where to.
            out: folder that holds the conditions.
            complete: runs that were completed.
            asked: runs that were not complete at the beginning.
            seconds: wall time.
            stopped: whether runs are missing still.
        """
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, text in self._lines(out, complete, asked, seconds, stopped=stopped):
            table.add_row(name, Text(text))
            if not console.is_terminal:  # a line in a file is not wrapped
                console.print(Text(f"{name:<12} {text}"), soft_wrap=True)
        if console.is_terminal:
            console.print(table)

    def _lines(self, out: Path, complete: int, asked: int, seconds: float, *, stopped: bool) -> list[tuple[str, str]]:
        tally, folder = self.tally, shlex.quote(str(out))
        resumed = f"; {self.resumed} had been begun earlier" if self.resumed else ""
        runs = f"{complete} of {asked} complete, {self.iterations:,} iterations in {_duration(seconds)}{resumed}"
        none = "none yet" if stopped else "none, since no answer could be read"
        lines = [("runs", runs), *_named("best return", self._best() or [none])]
        if tally.calls:
            share = f" ({tally.unreadable / tally.calls:.1%})" + (
                f"; the last: {tally.last_error}" * bool(tally.unreadable)
            )
            lines.append(("calls", f"{tally.calls:,}, of which {tally.unreadable:,} unreadable{share}"))
        if tally.prompt_tokens is not None or tally.answer_tokens is not None:
            rate = "" if tally.rate is None else f", {tally.rate:.1f} a second"
            tokens = f"{_count(tally.prompt_tokens)} of prompts, {_count(tally.answer_tokens)} of answers{rate}"
            lines.append(("tokens", tokens))
        if self.skipped:
            lines.append(("skipped", f"{self.skipped:,} iteration{'' if self.skipped == 1 else 's'}"))
        lines.append(("records", str(out)))
        if stopped:
            following = ["the same command goes on from here"]
        elif self.best:
            following = [f"audit {name} {folder}" for name in NEXT]
        else:
            following = [SILENT]
        return [*lines, *_named("next", following)]

    def _best(self) -> list[str]:
        """A line for each task, with the best return of each method on it."""
        tasks: dict[str, list[str]] = {}
        for (task, method), each in sorted(self.best.items()):
            tasks.setdefault(task, []).append(f"{method} {each.best:.4g} (run {each.spec.run})")
        return [f"{task}: {', '.join(methods)}" for task, methods in tasks.items()]


def _named(name: str, lines: Sequence[str]) -> list[tuple[str, str]]:
    """Lines of which the first is preceded by a name."""
    return list(zip([name, *[""] * len(lines)], lines, strict=False))


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


def _count(tokens: int | None) -> str:
    return "not reported" if tokens is None else f"{tokens:,}"
