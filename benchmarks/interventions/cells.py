"""The cells of the benchmark: which critic is asked where, in which row of the requirements it counts, and for what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from audit.interventions.effects.named_shares import (
    CONTENTS,
    HEADINGS,
    LABELS,
    LENGTH,
    NOTHING,
    NUMBERS,
    PLACES,
    WORDING,
)
from audit.interventions.presets import PRESETS
from benchmarks.interventions.critics import Critic

PRESET: Final = PRESETS["standard"]
RUNS: Final = 12
SETS: Final = 40
SIMULATED: Final = "simulated"
"""Edits of the simulated critic; other sources are vectors, by their signal to noise."""
VECTORS: Final = "0.25"
CLEAR: Final = "1"

PLANTED: Final = (*CONTENTS, LABELS[0], LABELS[2], PLACES[0], PLACES[2], NUMBERS[0])
"""The factors that are to be found."""
SHARES: Final = (0.3, 0.6, 1.0)
REFUSING: Final = ("C", "S_w", "E0", "R0", "RW")
REFUSED: Final = (0.05, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Cell:
    """Data sets of one kind.

    Attributes:
        row: of the requirements.
        source: of edits.
        critic: what is planted.
        sets: how many data sets.
        runs: of how many runs.
    """

    row: str
    source: str
    critic: Critic
    sets: int = SETS
    runs: int = RUNS

    def __str__(self) -> str:
        return f"{self.row}/{self.source}/{self.critic}"

    @property
    def right(self) -> str | None:
        """What the headline is to be: the motive with the largest share."""
        return max(self.critic.motives, key=lambda each: each[1])[0] if self.critic.motives else None

    @property
    def allowed(self) -> frozenset[str]:
        """What may be said to move the critic; frames are what length works through, so that one is the other's."""
        motives = frozenset(motive for motive, _ in self.critic.motives)
        return motives | {WORDING, LENGTH} if motives & {WORDING, LENGTH} else motives


def cells() -> Iterator[Cell]:
    """All of them, row by row."""
    for source in (SIMULATED, VECTORS):
        for motive in PLANTED:
            for share in SHARES:
                yield Cell("planted", source, Critic(((motive, share),)))
        for motive in (WORDING, LENGTH, HEADINGS):
            yield Cell("no rollout", source, Critic(((motive, 1.0),)))
        for rest in (Critic().rest, NOTHING):
            yield Cell("nothing", source, Critic(rest=rest))
        yield Cell("two motives", source, Critic(((NUMBERS[0], 0.85), (PLACES[0], 0.06))))
        for arm in REFUSING:
            for share in REFUSED:
                yield Cell("refusals", source, Critic(unreadable=(arm, share)), sets=10)
        yield Cell("carried", source, Critic(((LABELS[0], 1.0),), carried="a fifth of units"))
        yield Cell("carried", source, Critic(((LABELS[0], 1.0),), carried="one run"), runs=10)
    for source in (VECTORS, CLEAR):
        for critic in (
            Critic(),
            Critic(rest=NOTHING),
            *(Critic(((motive, 0.3),)) for motive in (LABELS[0], PLACES[2], CONTENTS[0], NUMBERS[0])),
            Critic(((CONTENTS[1], 0.6),)),
            Critic(((LABELS[2], 1.0),)),
        ):
            yield Cell("coverage", source, critic, sets=75)
