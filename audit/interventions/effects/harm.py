"""What seeing the worst rollout does to the returns of revised policies."""

from __future__ import annotations

import math
from typing import Final

from audit.interventions.arms import BASE
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.contrasts import mean_effect
from audit.interventions.effects.presence import edit_size
from audit.interventions.effects.results import Effect
from audit.interventions.experiment import Answered, Experiment

PAIRS: Final = ((BASE, "RW"), ("RM", "RW"), (BASE, "DW"), ("DM", "DW"))
"""Arms that show the worst rollout, and the same without it: the whole evidence, and what lacks the median instead."""


def harm(experiment: Experiment, redraws: Redraws) -> list[Effect]:
    """Effects of the worst rollout's presence on gains, by task, since returns of different tasks do not add up.

    A negative gain: seeing the worst rollout costs return. Fresh returns are of the same seeds for all policies of a
    unit, so that differences within units are free of most of their noise.
    """
    found = []
    for arm, control in PAIRS:
        if not (experiment.arm(arm) and experiment.arm(control)):
            continue
        found.append(mean_effect(experiment, "seeing the worst", "size", edit_size, arm, control, redraws))
        if all(math.isnan(answer.gain) for answer in experiment.answers if answer.arm == arm):
            continue
        found.append(mean_effect(experiment, "seeing the worst", "harmful", _harmful, arm, control, redraws))
        for env in sorted({unit.env for unit in experiment.units}):
            effect = mean_effect(experiment, "seeing the worst", "gain", _gain, arm, control, redraws, env=env)
            if effect.units:
                found.append(effect)
    return found


def _gain(answer: Answered) -> float:
    return answer.gain


def _harmful(answer: Answered) -> float:
    return float(answer.harmful)
