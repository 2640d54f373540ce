"""The templates whose prompts can be changed: where they state the order, the roles and the number of rollouts.

A prompt in a frame that announces "the worst, the median and the best" cannot show them in another order. Each dialect
states how to make its frame neutral, how to reword it without a change of meaning, and which instructions mention the
worst rollout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Dialect:
    """A template.

    Attributes:
        id: its name.
        evidence: the line that opens the evidence.
        preamble: pattern of the words that introduce the rollouts; it must occur once.
        neutral: patterns and what replaces them: no order, no roles, no number of rollouts.
        placebo: the same for a prompt of the same meaning.
        warnings: the instructions that mention the worst rollout, with their line breaks.
        trial: an earlier trial; group `entry` is all but its number.
    """

    id: str
    evidence: str
    preamble: re.Pattern[str]
    neutral: Mapping[str, str]
    placebo: Mapping[str, str]
    warnings: re.Pattern[str]
    trial: re.Pattern[str]

    def claims(self, text: str) -> bool:
        """Whether a prompt was made with this template and shows three rollouts."""
        return self.evidence in text and len(self.preamble.findall(text)) == 1


_OURS: Final = (
    r"Three of the (\d+) rollouts: the one with the lowest return, the one nearest to the median, and the one with the "
    r"highest\."
)
_RELEASED: Final = (
    r"Below are three representative rollouts from the ((?:\d+ )?evaluation) episodes: the worst one, one near the "
    r"median, and the best one\."
)

DIALECTS: Final = (
    Dialect(
        id="project",
        evidence="\n## Evidence\n",
        preamble=re.compile(_OURS),
        neutral={
            _OURS: r"Some of the \1 rollouts, in no particular order.",
            r"^1\. Lay the three rollouts side by side": "1. Lay the rollouts side by side",
        },
        placebo={
            r"^## (?=\S)": "### ",
            r"^- (?=\S)": "* ",
            "Refer to specific": "Cite specific",
        },
        warnings=re.compile(r"^(?:1\. Lay .*|- .*\bworst\b.*)\n", re.MULTILINE),
        trial=re.compile(r"^#\d+ (?P<entry>params=.*(?:\n    .*)*)", re.MULTILINE),
    ),
    Dialect(
        id="released",
        evidence="\n# What actually happened during the test\n",
        preamble=re.compile(_RELEASED),
        neutral={
            _RELEASED: r"Below are some of the \1 episodes, in no particular order.",
            r"^1\. Compare the worst, median, and best rollouts": "1. Compare the rollouts",
        },
        placebo={
            r"^# (?=\S)": "## ",
            r"^- (?=\S)": "* ",
            "referencing specific": "citing specific",
        },
        warnings=re.compile(r"^(?:1\. Compare .*|- .*\bworst\b.*)\n", re.MULTILINE),
        trial=re.compile(r"^(?:Warmup|Training) trial \d+: (?P<entry>params=.*)", re.MULTILINE),
    ),
)
