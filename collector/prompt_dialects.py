"""The templates whose prompts can be changed: where they state the order, the roles and the number of rollouts.

A prompt in a frame that announces "the worst, the median and the best" cannot show them in another order. Each dialect
states how to make its frame neutral, how to change it without a change of meaning, how it reads without rollouts, and
which instructions mention the worst rollout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Placebo = Literal["mixed", "words", "layout", "longer", "shorter"]
"""Another frame of the same meaning: a little of both words and layout, other words, another layout, more, or fewer."""
Rewording = Mapping[str, str]
"""Patterns and what replaces them, in this order."""


@dataclass(frozen=True)
class Dialect:
    """A template.

    Attributes:
        id: its name.
        evidence: the line that opens the evidence.
        preamble: pattern of the words that introduce the rollouts; it must occur once.
        neutral: what makes a frame that states no order, no roles and no number of rollouts.
        placebos: what changes the neutral frame and leaves its meaning.
        absent: what makes the neutral frame fit a prompt without rollouts.
        warnings: the instructions that mention the worst rollout, with their line breaks.
        trial: an earlier trial; group `entry` is all but its number.
    """

    id: str
    evidence: str
    preamble: re.Pattern[str]
    neutral: Rewording
    placebos: Mapping[Placebo, Rewording]
    absent: Rewording
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
_SOME: Final = r"Some of the (\d+) rollouts, in no particular order\."
_EPISODES: Final = r"Below are some of the ((?:\d+ )?evaluation) episodes, in no particular order\."
"""What the neutral frame says instead."""

DIALECTS: Final = (
    Dialect(
        id="project",
        evidence="\n## Evidence\n",
        preamble=re.compile(_OURS),
        neutral={
            _OURS: r"Some of the \1 rollouts, in no particular order.",
            r"^1\. Lay the three rollouts side by side": "1. Lay the rollouts side by side",
        },
        placebos={
            "mixed": {
                r"^## (?=\S)": "### ",
                r"^- (?=\S)": "* ",
                "Refer to specific": "Cite specific",
            },
            "words": {
                r"^You review policies": "You examine policies",
                "study how it behaved and hand back a better one": "look at what it did and give back a better one",
                _SOME: r"A selection of the \1 rollouts, arranged in no particular way.",
                r"^1\. Lay the rollouts side by side: which faults do they share, and which does only one of them "
                r"show": (
                    "1. Put the rollouts next to each other: which faults do they have in common, and which does a "
                    "single one of them show"
                ),
                r"^2\. Find the states and the actions taken there that explain": (
                    "2. Identify the states and the actions chosen in them that account for"
                ),
                r"^3\. Note which decisions the better rollouts got right, so that they survive": (
                    "3. Take note of which decisions the better rollouts made well, so that they are kept in"
                ),
                r"^4\. Change the parameters that govern": "4. Adjust the parameters that control",
                r"^Weigh these points:": "Consider these points:",
                "A focused change is better than a sweeping one": "A narrow change is preferable to a broad one",
                "Refer to specific rollouts and states in your explanation": (
                    "Cite particular rollouts and states when you explain"
                ),
            },
            "layout": {
                r"^## (\S.*)": r"#### \1\n",
                r"^- (?=\S)": "  + ",
                r"^(\d)\. (?=\S)": r"\1) ",
            },
            "longer": {
                rf"^({_SOME}.*)": (
                    r"\1 They are what this section is about, and the text of each one follows its heading: first "
                    r"comes "
                    "a heading, then the steps that belong to it, and then the next heading, until the section "
                    "ends. "
                    "What the sections before this one say holds here as well. The sections after it go on with "
                    "what "
                    "else there is to know, and each of them has a heading of its own."
                ),
                r"^(## How to proceed)$": (
                    r"\1\nThis section describes a way of working. It is written as a list, so that it is easy to "
                    "follow, and the list is the same for all policies. Take as much time as you need for it. The "
                    "points after the list belong to it as well, and they too are the same for all policies."
                ),
                r"^(## Your answer)$": (
                    r"\1\nThis last section is about the form of the answer. All that the answer can be based on "
                    r"was "
                    "given in the sections before it, and nothing comes after it."
                ),
            },
            "shorter": {
                r"^You review policies for a control task\. One policy has just been tested; study how it behaved and "
                "hand back a better one": "Study how this policy for a control task behaved and hand back a better one",
                _SOME: r"Some of the \1 rollouts, unordered.",
                r"^1\. Lay the rollouts side by side: which faults do they share, and which does only one of them "
                r"show": ("1. Compare the rollouts: which faults do they share, which does only one show"),
                r"^2\. Find the states and the actions taken there that explain": (
                    "2. Find the states and actions that explain"
                ),
                r"^3\. Note which decisions the better rollouts got right, so that they survive the revision": (
                    "3. Note what the better rollouts got right, and keep it"
                ),
                r"^4\. Change the parameters that govern the faulty decisions": "4. Change the parameters at fault",
                r"^Weigh these points:": "Weigh:",
                "A focused change is better than a sweeping one": "Better a focused change than a sweeping one",
                "unless the evidence for more is strong": "without strong evidence for more",
                r"Do not hand back parameters that an earlier trial already used": (
                    "Hand back no parameters of an earlier trial"
                ),
                r"^The first line holds nothing but all (\d+) values, in this form:": (
                    r"First line: only all \1 values, in this form:"
                ),
                r"^After that, from the second line on:": "From the second line on:",
                "Refer to specific rollouts and states in your explanation": "Refer to specific rollouts and states",
            },
        },
        absent={
            rf"{_SOME}.*": r"None of the \1 rollouts is shown.",
            r"^1\. Lay the rollouts side by side.*": (
                "1. Compare the policy with the earlier trials: what do those with higher returns share?"
            ),
            r"^2\. Find the states and the actions taken there that": "2. Work out which decisions may",
            r"^3\. Note which decisions the better rollouts got": "3. Note what the better trials got",
            r"^- .*\bworst rollout\b.*\n": "",
            r" Refer to specific rollouts and states in": " Refer to specific trials in",
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
        placebos={
            "mixed": {
                r"^# (?=\S)": "## ",
                r"^- (?=\S)": "* ",
                "referencing specific": "citing specific",
            },
            "words": {
                _EPISODES: r"What follows is a selection of the \1 episodes, arranged in no particular way.",
                r"^1\. Compare the rollouts": "1. Put the rollouts next to each other",
                "referencing specific": "pointing at particular",
            },
            "layout": {
                r"^# (\S.*)": r"### \1\n",
                r"^- (?=\S)": "  + ",
                r"^(\d)\. (?=\S)": r"\1) ",
            },
            "longer": {
                rf"^({_EPISODES}.*)": (
                    r"\1 They are what this section is about, and the text of each one follows its heading: first "
                    r"comes "
                    "a heading, then the steps that belong to it, and then the next heading, until the section "
                    "ends. "
                    "What the sections before this one say holds here as well. The sections after it go on with "
                    "what "
                    "else there is to know. Take as much time as you need for all of them, and read each of them "
                    "as "
                    "you would read any other. They are written in this way for all policies."
                ),
            },
            "shorter": {
                _EPISODES: r"Some of the \1 episodes, unordered.",
                r"\bby referencing specific": "with specific",
                "referencing specific": "naming",
            },
        },
        absent={
            rf"{_EPISODES}.*": r"None of the \1 episodes is shown.",
            r"^1\. Compare the rollouts.*": (
                "1. Compare the policy with the earlier trials: what do the better ones share?"
            ),
            r"^- .*\bworst rollout\b.*\n": "",
            "referencing specific rollouts": "referencing specific trials",
        },
        warnings=re.compile(r"^(?:1\. Compare .*|- .*\bworst\b.*)\n", re.MULTILINE),
        trial=re.compile(r"^(?:Warmup|Training) trial \d+: (?P<entry>params=.*)", re.MULTILINE),
    ),
)
