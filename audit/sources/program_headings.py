"""The programs that an OpenEvolve prompt shows beside the one to revise, by its headings."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from audit.sources.tool_runs import cut
from audit.vocabulary.evidence import ShownRollout

PROGRAMS: Final = re.compile(
    r"^### (?P<name>Attempt \d+|Program D?\d+|Inspiration \d+)(?: \(Score: (?P<score>-?\d+(?:\.\d+)?)[^\n]*\))?[ \t]*$"
    r"|^## (?:Previous Attempts|Top Performing Programs|Diverse Programs|Inspiration Programs)$",
    re.MULTILINE,
)
SHOWN_AFTER: Final = "\n# Program Evolution History\n"
SHOWN_BEFORE: Final = "\n# Current Program\n"
_METRIC: Final = re.compile(r"^- Metrics: (?:.*, )?combined_score: (-?\d+(?:\.\d+)?)", re.MULTILINE)


def shown_programs(prompt: str) -> list[ShownRollout]:
    """The programs in the order of display, with the score that the prompt states for each.

    Attempts state theirs among their metrics. There are none in a prompt of another template.
    """
    start, end = prompt.find(SHOWN_AFTER), prompt.rfind(SHOWN_BEFORE)
    found = list(PROGRAMS.finditer(prompt, start, end)) if 0 <= start < end else []
    ends = [*(heading.start() for heading in found[1:]), end]
    shown = []
    for heading, stop in zip(found, ends, strict=False):
        if heading["name"] is None:
            continue
        text = prompt[heading.end() : stop].strip()
        score = heading["score"]
        if score is None and (metric := _METRIC.search(text)):
            score = metric[1]
        value = None if score is None else float(score)
        shown.append(ShownRollout(label="item", return_=value, name=heading["name"], text=cut(text) or msgspec.UNSET))
    return shown
