"""Scored items that a model was shown and texts that it changed, in lines for people and for judges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from audit.output.escaping import in_line
from audit.output.paragraphs import excerpt
from audit.output.word_diff import component_diffs

KINDS: Final = ("batch", "pair", "programs")
"""Kinds of evidence whose items are no rollouts."""
TEXT_LINES: Final = 4
"""Lines of an item's text that are given."""
LONGEST_DIFF: Final = 8_000
"""Characters of a word diff that are given."""


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
