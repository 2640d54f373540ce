"""Does a critic name what it follows? Rollouts that are mentioned in sentences that give a reason, or else anywhere."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Final

import numpy as np

from audit.interventions.arms import CONJOINT, LETTERED
from audit.interventions.effects.comparisons import over_runs
from audit.interventions.experiment import Answered, Experiment
from audit.measures.cluster_robust import Coefficient

CHANCE: Final = 1 / 3
"""How often an answer that names one rollout at random names one of the three."""
_LEVEL: Final = 0.05


def named_share(experiment: Experiment, holder: Callable[[Answered], int | None]) -> Coefficient:
    """The share of answers that name the rollout with an attribute, with an interval over runs.

    They are those in `C`; where that was not asked, those to the whole evidence without labels.

    Where no sentence with a reason names a rollout, all that the answer mentions count: a critic is not silent because
    its reason is in the next sentence. An answer that names several counts in parts, 1/k for each of k: where the
    attribute is drawn at random, who names all rollouts, or one at random, names the one that has it in a third at
    most.

    Args:
        experiment: its answers.
        holder: the place of the rollout with the attribute; None for answers that do not count.
    """
    parts: dict[int, list[float]] = defaultdict(list)
    for unit, answers in (experiment.arm(CONJOINT) or experiment.arm(LETTERED)).items():
        for answer in answers:
            place = holder(answer)
            if answer.readable and place is not None:
                names = answer.named or answer.mentioned
                parts[unit].append(1 / len(names) if answer.shown[place].content in names else 0.0)
    units = sorted(parts)
    found = over_runs(experiment, units, np.array([np.mean(parts[unit]) for unit in units]))
    runs = len({experiment.clusters[unit] for unit in units})
    if runs < 2 or not math.isnan(found.low):
        return found
    # All units are alike, mostly at 0 or 1: what Clopper and Pearson have for as many runs that are all alike.
    unseen = (_LEVEL / 2) ** (1 / runs)
    return found._replace(low=found.estimate * unseen, high=1 - (1 - found.estimate) * unseen)
