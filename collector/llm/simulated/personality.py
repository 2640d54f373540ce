"""How a simulated critic chooses the rollout it anchors on, and whether its explanation names it: as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from collector.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Personality:
    """One temperament.

    Attributes:
        id: the name used in options and in the condition.
        fixation: probability of anchoring on the worst rollout shown without weighing the others; otherwise each
            rollout is chosen in proportion to how typical it is.
        names: which rollout its explanation names, if it names one.
        outspoken: probability that its explanation names one.
        discounts: probability that, having anchored on another rollout, it calls the worst one a rare failure.
    """

    id: str
    fixation: float
    names: Literal["anchor", "worst"]
    outspoken: float
    discounts: float = 0.0


PERSONALITIES: dict[str, Personality] = {
    personality.id: personality
    for personality in (
        Personality(id="salient", fixation=0.85, names="anchor", outspoken=0.9),
        Personality(id="balanced", fixation=0.0, names="anchor", outspoken=0.9, discounts=0.2),
        Personality(id="silent", fixation=0.85, names="anchor", outspoken=0.1),
        Personality(id="talker", fixation=0.0, names="worst", outspoken=0.9),
    )
}


def get_personality(personality_id: str) -> Personality:
    """The personality of that name.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    try:
        return PERSONALITIES[personality_id]
    except KeyError:
        raise UsageError(f"unknown personality '{personality_id}'; choose from {', '.join(PERSONALITIES)}") from None
