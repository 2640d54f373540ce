"""How a simulated critic chooses the rollout it anchors on, and whether its explanation names it: as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from collector.errors import UsageError

RULES: Final[Mapping[str, float]] = {
    "number": 0.85,
    "label": 0.85,
    "first": 0.85,
    "last": 0.85,
    "content": 0.85,
    "magnitude": 0.85,
    "uniform": 1.0,
    "none": 1.0,
    "typical": 0.0,
    "format": 0.0,
    "length": 0.0,
}
"""The rules and how often a critic follows them unless its id states it; those with 0 are typical in every choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Personality:
    """One temperament.

    Attributes:
        id: the name used in options and in the condition.
        rule: one of the `RULES`: which rollout it anchors on when it does not weigh them.
        fixation: probability of following the rule; otherwise each rollout is chosen in proportion to its typicality.
        names: which rollout its explanation names, if it names one.
        outspoken: probability that its explanation names one.
        discounts: probability that, having anchored on another rollout, it calls the worst one a rare failure.
    """

    id: str
    rule: str
    fixation: float
    names: Literal["anchor", "worst"] = "anchor"
    outspoken: float = 0.9
    discounts: float = 0.0

    @property
    def sees_format(self) -> bool:
        """Whether any byte of the prompt changes the answer, though not its distribution."""
        return self.rule == "format"

    @property
    def sees_length(self) -> bool:
        """Whether longer prompts get larger revisions."""
        return self.rule == "length"


PERSONALITIES: dict[str, Personality] = {
    personality.id: personality
    for personality in (
        Personality(id="salient", rule="number", fixation=0.85),
        Personality(id="balanced", rule="typical", fixation=0.0, discounts=0.2),
        Personality(id="silent", rule="number", fixation=0.85, outspoken=0.1),
        Personality(id="talker", rule="typical", fixation=0.0, names="worst"),
    )
}
"""The personalities with a name of their own."""

CHOICES: Final = f"{', '.join(PERSONALITIES)}, or RULE[@P][-silent|-talker] with RULE one of {', '.join(RULES)}"
"""What an option accepts."""

_ID = re.compile(rf"({'|'.join(RULES)})(?:@(0(?:\.[0-9]+)?|1(?:\.0+)?))?(?:-(silent|talker))?")


def get_personality(personality_id: str) -> Personality:
    """The personality of that name, or that follows that rule.

    Args:
        personality_id: a key of `PERSONALITIES`, or `RULE[@P][-silent|-talker]`, as in `number@0.4-silent`: a rule, the
            probability of following it, and whether the explanation hardly ever names the anchor (`silent`), or names
            the worst rollout whatever the anchor is (`talker`).

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    if known := PERSONALITIES.get(personality_id):
        return known
    if (parsed := _ID.fullmatch(personality_id)) is None:
        raise UsageError(f"unknown personality '{personality_id}'; choose from {CHOICES}")
    rule, stated, manner = parsed.groups()
    if stated is not None and RULES[rule] == 0.0:
        raise UsageError(f"personality '{personality_id}': '{rule}' takes no probability, as it is typical throughout")
    return Personality(
        id=personality_id,
        rule=rule,
        fixation=RULES[rule] if stated is None else float(stated),
        names="worst" if manner == "talker" else "anchor",
        outspoken=0.1 if manner == "silent" else 0.9,
    )
