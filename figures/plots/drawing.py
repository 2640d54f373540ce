"""A figure with its title, caption and notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

import matplotlib as mpl
from matplotlib.figure import Figure

from audit.output.escaping import in_line
from figures.names import LONGEST, label
from figures.style import RC

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Drawing:
    """A figure, drawn and not yet written.

    `stem` is its file name without ending, `caption` explains how to read it, `note` what it was made from and what is
    missing: the note is in the picture too. `description` is for those who cannot see it.
    """

    stem: str
    title: str
    caption: str
    note: str
    description: str
    figure: Figure


def in_style(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw with the project's style, leaving Matplotlib's settings as they were."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> R:
        with mpl.rc_context(RC):
            return draw(*args, **kwargs)

    return styled


def joined(sentences: Iterable[str]) -> str:
    """Sentences as one text in one line, the empty ones left out, and names that others put into them shortened."""
    text = in_line(" ".join(sentence for sentence in sentences if sentence))
    return re.sub(rf"\S{{{LONGEST + 1},}}", lambda word: label(word[0]), text)


def left_out(missing: Sequence[str]) -> str:
    """What a page does not show, as one sentence; empty where nothing is missing."""
    return f"Not shown, as these records hold nothing for them: {'; '.join(missing)}." if missing else ""


def span(counts: Iterable[int], noun: str) -> str:
    """How many, as `3 runs`, `1 run` or `2 to 3 runs`."""
    present = sorted(set(counts)) or [0]
    low, high = present[0], present[-1]
    number = f"{low}" if low == high else f"{low} to {high}"
    return f"{number} {noun}" if high == 1 else f"{number} {noun}s"
