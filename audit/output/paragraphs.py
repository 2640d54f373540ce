"""Long text in lines of a width to read, safe to print."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Sequence
from typing import Final

from audit.output.escaping import visible

WIDTH: Final = 88
MOST: Final = 5
"""Paragraphs above a table, or on a page, at most."""


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


def first(paragraphs: Sequence[str]) -> list[str]:
    """The first paragraphs, and how many more there are."""
    rest = len(paragraphs) - MOST
    return [
        *paragraphs[:MOST],
        *([f"… and {rest} more: narrow with --condition, --env or --variant"] if rest > 0 else []),
    ]


def as_wide_as_shown(paragraphs: Sequence[str]) -> str:
    """Paragraphs with a blank line below each, wrapped to the width of the terminal, or of 80 characters in a pipe."""
    width = shutil.get_terminal_size().columns
    return "".join("\n".join([*wrapped(each, width), "", ""]) for each in paragraphs)
