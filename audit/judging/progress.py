"""How far judging has come: a bar on a terminal, a line now and then elsewhere; and what it took, in the end."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from audit.output.errors import count
from audit.request import note
from audit.sources.judgements import Judged

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

EVERY: Final = 60.0
"""Seconds between two lines where there is no terminal."""


class Progress:
    """Counts judgements and shows their number while it is entered.

    Args:
        total: judgements to be made.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = self.unreadable = self.unquoted = self.prompt_tokens = self.completion_tokens = 0
        self._began = self._last = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._bar.add_task("judging", total=self.total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def told(self, judged: Judged) -> None:
        """One more is in the file."""
        self.done += 1
        self.unreadable += judged.driver is None
        self.unquoted += bool(judged.sentence) and not judged.quoted
        self.prompt_tokens += judged.prompt_tokens or 0
        self.completion_tokens += judged.completion_tokens or 0
        if self._bar is not None:
            self._bar.advance(self._bar.task_ids[0])
        elif time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            note(f"{self.done} of {self.total} judged")

    def summary(self) -> str:
        """What was judged, and what it took."""
        return (
            f"{count(self.done, 'answer')} judged, {self.unreadable} of them unreadably, {self.unquoted} with a "
            f"sentence that the answer does not hold; {self.prompt_tokens:,} tokens of prompts and "
            f"{self.completion_tokens:,} of replies as the server counts them, {time.monotonic() - self._began:.1f} s"
        )
