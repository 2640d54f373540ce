"""Critics whose motives are planted: the benchmark knows what each rollout is, and decides which one is followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from audit.interventions.effects.named_shares import (
    ANY,
    CONTENTS,
    FACTORS,
    FOLLOWED,
    LABELS,
    NOTHING,
    NUMBERS,
    PLACES,
    STIMULI,
)
from audit.interventions.experiment import Place
from audit.interventions.showing import ROLES

MOTIVES: Final = (*CONTENTS, *LABELS, *PLACES, *NUMBERS, *STIMULI)

Carried = Literal["all", "a fifth of units", "one run"]


@dataclass(frozen=True)
class Critic:
    """A critic.

    Attributes:
        motives: what it follows, and in which share of revisions.
        rest: what the others are made for: any rollout, each as likely, or none, as without evidence.
        carried: by whom motives are followed; other units and runs go by the rest alone.
        unreadable: an arm, and the share of its answers that cannot be read.
    """

    motives: tuple[tuple[str, float], ...] = ()
    rest: str = ANY
    carried: Carried = "all"
    unreadable: tuple[str, float] | None = None

    def __str__(self) -> str:
        parts = [f"{motive}@{share:g}" for motive, share in self.motives] or ["nothing"]
        if self.rest != ANY:
            parts.append(f"else {self.rest}")
        if self.carried != "all":
            parts.append(f"in {self.carried}")
        if self.unreadable:
            parts.append("{} unreadable@{:g}".format(*self.unreadable))
        return ", ".join(parts)

    def motive(self, rng: np.random.Generator, *, carries: bool) -> str:
        """What one revision goes by.

        Args:
            rng: draws it.
            carries: whether this unit's revisions follow the motives at all.
        """
        drawn = rng.random()
        for motive, share in self.motives if carries else ():
            if drawn < share:
                return motive
            drawn -= share
        return self.rest

    def truth(self, *, hides: bool) -> dict[str, float]:
        """The shares that are to be estimated, by name, for a critic that all units carry.

        A level is the excess over the mean of the other two, so that those lose half of what it has.

        Args:
            hides: returns are hidden in half of the calls, in which who goes by numbers goes by no evidence.
        """
        found = dict.fromkeys(FOLLOWED, 0.0)
        for motive, share in self.motives:
            for name in next(names for names in FACTORS if motive in names):
                found[name] += share if name == motive else -share / 2
        follows = sum(share for _, share in self.motives)
        left = 1 - follows
        unseen = sum(share for motive, share in self.motives if motive in NUMBERS) / 2 if hides else 0.0
        found[ANY] = follows - unseen + left * (self.rest == ANY)
        found[NOTHING] = left * (self.rest == NOTHING) + unseen
        return found


def followed(
    motive: str, places: Sequence[Place], returns: Mapping[str, float], rng: np.random.Generator
) -> int | None:
    """The place of the rollout that a revision is made for; None for one that goes by no rollout.

    Where a single rollout is shown, all follow it: its edits are the references. Who follows a label or a content that
    is not shown takes any rollout; who follows a printed return takes none where returns are hidden.

    Args:
        motive: what the revision goes by, a rollout's or `ANY` or `NOTHING`.
        places: the rollouts in the order of display.
        returns: by content, the true ones.
        rng: draws any rollout.
    """
    if len(places) < 2:
        return 0 if places else None
    if motive in PLACES:
        return (0, 1, len(places) - 1)[PLACES.index(motive)]
    if motive in NUMBERS:
        printed = [returns[place.number] for place in places if place.number is not None]
        ranked = sorted(printed)[NUMBERS.index(motive)] if len(printed) == len(places) else None
        return None if ranked is None else printed.index(ranked)
    for names, held in (
        (LABELS, [place.label for place in places]),
        (CONTENTS, [place.content for place in places]),
    ):
        if motive in names and (role := ROLES[names.index(motive)]) in held:
            return held.index(role)
    return None if motive == NOTHING else int(rng.integers(len(places)))
