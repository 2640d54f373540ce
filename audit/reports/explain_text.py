"""One revision of a text in full: what the critic was shown, how it explained itself, and the text word by word."""

from __future__ import annotations

import json
from typing import Any, Final

from audit.output.escaping import in_line
from audit.output.formats import rounded
from audit.output.paragraphs import WIDTH, excerpt, wrapped
from audit.output.word_diff import component_diffs

ITEM_LINES: Final = 6
"""Lines of an item shown that are printed."""
ANSWER_LINES: Final = 60


def with_text(candidate: dict[str, Any]) -> dict[str, Any]:
    """A candidate with its text as a dict of components."""
    return {**candidate, "text": None if candidate["text"] is None else json.loads(candidate["text"])}


def no_pattern(details: dict[str, Any]) -> str:
    """Why a revision of a text has no edit pattern."""
    if details["direction"] == "no_change":
        return "the score did not change"
    if details["components"] is None:
        return "a text is not recorded"
    if details["edit_ratio"] is None:
        return "the texts are too long to compare"
    return "scores of the run lie outside 0 to 1, and run.json states no score_range"


def shown_items(revision: dict[str, Any]) -> list[str]:
    """The items that the critic was shown, in the order of display: heading, score, and how each begins."""
    roles: dict[int, list[str]] = {}
    if revision["structure"] != "identical":  # else no item is worse than another
        for label in ("worst", "median", "best"):
            if (place := revision["places"].get(label)) is not None:
                roles.setdefault(place, []).append(label)
    lines = []
    for place, item in enumerate(revision["items"], start=1):
        score = "score not recorded" if item["return"] is None else f"score {rounded(item['return'])}"
        role = f"  ({', '.join(roles[place])})" if place in roles else ""
        name = in_line(item["name"]) if item["name"] else f"{item['label']} {place}"
        lines.append(f"{name}: {score}{role}")
        if item["text"]:
            lines += [f"    {line}" for line in excerpt(item["text"], ITEM_LINES, WIDTH - 4)]
    return lines


def edits(revision: dict[str, Any]) -> list[str]:
    """The word diff of each component that changed."""
    before, after = revision["initial"]["text"], revision["revised"]["text"]
    if before is None or after is None:
        return ["a text is not recorded"]
    lines = []
    for name, found in component_diffs(before, after):
        lines += [name, *(f"  {line}" for line in wrapped(found, WIDTH - 2))]
    return lines or ["none"]


def extent(revision: dict[str, Any]) -> str:
    """How much of the text changed, in brackets behind a heading; empty where a text is not recorded."""
    if revision["components"] is None:
        return ""
    components = f"{revision['changed_components']} of {revision['components']} components"
    ratio = "too long to compare" if revision["edit_ratio"] is None else f"edit ratio {rounded(revision['edit_ratio'])}"
    return f" ({components}; {ratio}; token change {rounded(revision['token_change'])})"


def answer(revision: dict[str, Any]) -> list[str]:
    """The critic's answer as it was written, up to some length."""
    return excerpt(revision["revised"]["answer"] or "(not recorded)", ANSWER_LINES)
