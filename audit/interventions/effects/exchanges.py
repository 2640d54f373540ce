"""Which label moves edits: three exchanges of two labels, of which two involve each label.

Exchanging the labels of worst and best moves a critic that follows the rollout called worst, and as much one that
follows the one called best. Being called worst moves edits only if both exchanges that involve it do more than the
third one; likewise the others. All are compared with the same control, and the hypothesis that one of the two does no
more than the third is tested by the largest p of the tests that it needs (an intersection-union test: Berger,
Technometrics 24, 1982), so that no correction is called for within a label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from audit.interventions.arms import ARMS
from audit.interventions.effects.comparisons import Redraws, against_control, over_runs, run_numbers
from audit.interventions.effects.results import Effect
from audit.interventions.experiment import Experiment, Floats
from audit.measures.sign_flip import sign_flip_test

EXCHANGES: Final = {"worst": ("XL", "XWM"), "median": ("XWM", "XMB"), "best": ("XL", "XMB")}
"""By label, the arms that exchange it for another."""
CALLED: Final = {role: f"being called {role}" for role in EXCHANGES}
METHOD: Final = "exchanges"
ARMS_NEEDED: Final = ("N0h", "XL", "XWM", "XMB")


def called(experiment: Experiment, effects: Sequence[Effect], redraws: Redraws) -> Iterator[Effect]:
    """Test for each label whether being called that moves edits; nothing where an exchange was not asked.

    The estimate is how much more the smaller of its two exchanges does than the third one.

    Args:
        experiment: its answers.
        effects: those of each exchange on edits, with their tests against chance and placebos.
        redraws: redraws and their seed.
    """
    known = {
        effect.arm: effect
        for effect in effects
        if effect.outcome == "edits" and effect.method == "energy" and effect.control == ARMS["XL"].control
    }
    if not known.keys() >= set(ARMS_NEEDED[1:]):
        return
    values = {arm: _by_unit(experiment, arm) for arm in ARMS_NEEDED[1:]}
    for role, own in EXCHANGES.items():
        [third] = set(ARMS_NEEDED[1:]) - set(own)
        beyond = {arm: values[arm] - values[third] for arm in own}
        flips = [
            sign_flip_test(
                differences,
                alternative="greater",
                draws=redraws.permutations,
                seed=redraws.draws(role, arm, METHOD),
            )
            for arm, differences in beyond.items()
        ]
        smaller = min(own, key=lambda arm: known[arm].estimate)
        units = np.flatnonzero(np.isfinite(beyond[smaller])).tolist()
        interval = over_runs(experiment, units, beyond[smaller][units])
        yield Effect(
            name=CALLED[role],
            outcome="edits",
            arm=smaller,
            control=third,
            method=METHOD,
            estimate=interval.estimate,
            low=interval.low,
            high=interval.high,
            p=_largest([*(known[arm].p for arm in own), *(each.p for each in flips)]),
            beyond_placebo_p=_largest([known[arm].beyond_placebo_p for arm in own]),
            beyond_redrawn_p=_largest([known[arm].beyond_redrawn_p for arm in own]),
            units=len(units),
            runs=len(set(run_numbers(experiment, units))),
            answers=sum(len(experiment.arm(arm).get(unit, [])) for arm in ARMS_NEEDED for unit in units),
        )


def _by_unit(experiment: Experiment, arm: str) -> Floats:
    """The energy distance of an exchange from its control, NaN for units without answers of both."""
    found = np.full(len(experiment.units), math.nan)
    both = against_control(experiment, arm, ARMS_NEEDED[0])
    found[both.units] = both.test().values
    return found


def _largest(p: Sequence[float]) -> float:
    return float(np.max(p))
