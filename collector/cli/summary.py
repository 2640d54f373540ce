"""What a session with a real model has done: calls, tokens, unreadable answers, and what to do next."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from collector.records import Call
from collector.search import Progress

SILENT: Final = (
    "see the reasons in calls.jsonl: a larger --max-tokens if answers are cut off, --structured if the form of answers "
    "is free, or another model"
)
"""What to do where nothing was proposed."""


@dataclass
class Tally:
    """Calls that were made, added up; tokens are None where the backend counts none."""

    calls: int = 0
    unreadable: int = 0
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
        skipped: iterations that proposed nothing.
        best: the progress of the best run of each task.
    """

    resumed: int = 0
    skipped: int = 0
    tally: Tally = field(default_factory=Tally)
    best: dict[str, Progress] = field(default_factory=dict)

    def add(self, progress: Progress, now: float, *, skipped: int) -> None:
        """Count what a run reports.

        Args:
            progress: of the run.
            now: as for `Tally.add`.
            skipped: iterations that proposed nothing since its last report.
        """
        self.skipped += skipped
        if progress.call is not None:
            self.tally.add(progress.call, now)
        known = self.best.get(progress.spec.task.id)
        if progress.best is not None and (known is None or known.best is None or progress.best > known.best):
            self.best[progress.spec.task.id] = progress

    def print(self, console: Console, out: Path) -> None:
        """Print the summary.

        Args:
            console: where to.
            out: folder that holds the conditions.
        """
        for name, text in self._lines(out):
            console.print(Text(f"{name:<12} {text}"), soft_wrap=True)

    def _lines(self, out: Path) -> list[tuple[str, str]]:
        tally, folder = self.tally, shlex.quote(str(out))
        best = [
            f"{each.best:.4g} ({task}, {each.spec.method.id}, run {each.spec.run})" for task, each in self.best.items()
        ]
        share = f" ({tally.unreadable / tally.calls:.1%})" if tally.calls else ""
        rate = "" if tally.rate is None else f", {tally.rate:.1f} a second"
        tokens = f"{_count(tally.prompt_tokens)} of prompts, {_count(tally.answer_tokens)} of answers{rate}"
        resumed = f"; of this session, {self.resumed} of the runs had been begun earlier" if self.resumed else ""
        names = ["best return", *[""] * len(best)]
        return [
            ("records", str(out)),
            *zip(names, best or ["none, since no answer could be read"], strict=False),
            ("calls", f"{tally.calls:,}, of which {tally.unreadable:,} unreadable{share}{resumed}"),
            ("tokens", tokens),
            ("skipped", f"{self.skipped:,} iteration{'' if self.skipped == 1 else 's'}"),
            *([("next", f"audit salience {folder}"), ("", f"figures {folder}")] if best else [("next", SILENT)]),
        ]


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


def _count(tokens: int | None) -> str:
    return "not reported" if tokens is None else f"{tokens:,}"
