"""Long text in lines of a width to read, safe to print."""

from __future__ import annotations

import re
import textwrap
from typing import Final

from audit.output.escaping import visible

WIDTH: Final = 88


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """The lines of a text, each paragraph wrapped."""
    # Words longer than a line are broken beforehand: the wrapper copies the rest of such a word for every line of it.
    broken = re.sub(rf"(\S{{{width}}})(?=\S)", r"\1 ", text.strip())
    return [
        line
        for paragraph in broken.splitlines()
        for line in (textwrap.wrap(paragraph, width, break_on_hyphens=False) or [""])
    ]


def excerpt(text: str, lines: int, width: int = WIDTH) -> list[str]:
    """The first lines of a text, and how much of it is left out."""
    beginning = text.strip()[: lines * width]
    shown = wrapped(visible(beginning), width)[:lines]
    left_out = len(text.strip()) - len(beginning)
    return [*shown, f"… {left_out:,} more characters"] if left_out else shown
