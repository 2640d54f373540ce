"""Long texts, and scored items that a model was shown, in lines for people and for judges, safe to print."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from audit.output.escaping import in_line, visible
from audit.output.word_diff import component_diffs

WIDTH: Final = 88
MOST: Final = 5
"""Paragraphs above a table, or on a page, at most."""
KINDS: Final = ("batch", "pair", "programs")
"""Kinds of evidence whose items are no rollouts."""
TEXT_LINES: Final = 4
"""Lines of an item's text that are given."""
LONGEST_DIFF: Final = 8_000
"""Characters of a word diff that are given."""


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


def item_lines(shown: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Heading and score of each item in the order of display, and how its text begins."""
    for item in shown:
        score = "score not recorded" if item["return"] is None else f"score {item['return']:.6g}"
        begins = " / ".join(excerpt(item["text"], TEXT_LINES)) if item.get("text") else ""
        yield f"{in_line(item['name'] or item['label'])}: {score}" + (
            f"; it reads: {in_line(begins)}" if begins else ""
        )


def diff_lines(before: str | None, after: str | None) -> Iterator[str]:
    """The word diff of each changed component, of two texts as JSON; nothing where one is not known."""
    if before is None or after is None:
        return
    for name, diff in component_diffs(json.loads(before), json.loads(after)):
        cut = f" … {len(diff) - LONGEST_DIFF:,} more characters" if len(diff) > LONGEST_DIFF else ""
        yield f"{name}: {diff[:LONGEST_DIFF]}{cut}"
