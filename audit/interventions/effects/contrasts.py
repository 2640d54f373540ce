"""An arm against its control: do edits differ in distribution, and by more than a placebo makes them differ?

Edits are compared within units only, by energy distances of their directions, in units of the mean distance of the
unit's answers; names of arms are permuted within units. A model may answer another wording differently although it
means the same, so that an effect counts only if it is larger than that of the placebo: per unit the difference of both
is taken, and its sign is flipped. That is exact if arm and placebo are exchangeable given their control.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from scipy.special import ndtri

from audit.interventions.arms import ARMS, BASE, REDRAWN, WORDING
from audit.interventions.effects.comparisons import (
    Compared,
    Redraws,
    against_control,
    compared,
    outcomes,
    over_runs,
    run_numbers,
)
from audit.interventions.effects.results import Effect
from audit.interventions.experiment import Answered, Experiment, Floats
from audit.measures.energy import bounded
from audit.measures.sign_flip import sign_flip_test
from audit.measures.stratified_permutation import stratified_difference

POWER: Final = 0.8
SEPARATION: Final = 0.3
"""Energy distance between answers that all follow one rollout and answers that all follow another, in units of the mean
distance of two answers: 0.32 and 0.35 with simulated critics that always follow the label or the place (52 prompts of
three tasks). A share of answers that go another way moves edits by its square times this."""

Placebos = Mapping[str, Mapping[int, float]]
"""By placebo, the energy distance of each unit from the placebo's control."""


def placebos(experiment: Experiment) -> Placebos:
    """What the placebos do, unit by unit."""
    found: dict[str, Mapping[int, float]] = {}
    for arm in (WORDING, REDRAWN):
        both = compared(experiment, (arm, BASE))
        found[arm] = dict(zip(both.units, both.test().values.tolist(), strict=True))
    return found


def edit_effect(
    experiment: Experiment,
    arm: str,
    control: str,
    redraws: Redraws,
    *,
    against: Placebos,
    level: float = 0.05,
    sensitivity: bool = True,
) -> Effect:
    """Test an arm's effect on edits.

    Args:
        experiment: its answers.
        arm: that is tested.
        control: that it is compared with.
        redraws: redraws and their seed.
        against: what placebos do.
        level: of the test, for the effect that it can find.
        sensitivity: test with bounded distances as well.
    """
    both = against_control(experiment, arm, control)
    result = both.test(redraws=redraws.permutations, seed=redraws.draws(arm, control, "edits"))
    interval = over_runs(experiment, both.units, result.values)
    bounded_p = math.nan
    if sensitivity:
        sized, draws = [_bounded(each) for each in both.sized], redraws.draws(arm, control, "bounded")
        bounded_p = both.test(sized, redraws=redraws.permutations, seed=draws).p
    beyond = {
        placebo: _beyond(both, result.values, against[placebo], redraws)
        for placebo in (WORDING, REDRAWN)
        if placebo != arm
    }
    return Effect(
        name=ARMS[arm].factor or arm,
        outcome="edits",
        arm=arm,
        control=control,
        method="energy" if len(both.masks) == 2 else "presence",
        estimate=result.statistic,
        low=interval.low,
        high=interval.high,
        p=result.p,
        beyond_placebo_p=beyond.get(WORDING, math.nan),
        beyond_redrawn_p=beyond.get(REDRAWN, math.nan),
        bounded_p=bounded_p,
        detectable=float(ndtri(1 - level) + ndtri(POWER)) * result.null_sd,
        units=result.strata,
        runs=len(set(run_numbers(experiment, both.units))),
        answers=both.answers,
    )


def mean_effect(
    experiment: Experiment,
    name: str,
    outcome: str,
    value: Callable[[Answered], float],
    arm: str,
    control: str,
    redraws: Redraws,
    *,
    env: str | None = None,
    level: float = 0.05,
) -> Effect:
    """Test the difference of the means of an outcome between two arms, within units.

    Args:
        experiment: its answers.
        name: of the effect.
        outcome: what `value` is.
        value: the outcome of an answer; answers for which it is NaN are left out with their unit.
        arm: whose mean is taken.
        control: whose mean is subtracted.
        redraws: redraws and their seed.
        env: the task whose units are compared; None for all.
        level: of the test, for the effect that it can find.
    """
    both = outcomes(experiment, arm, control, value, env=env)
    draws = redraws.draws(arm, control, outcome, env or "")
    test = stratified_difference(both.values, both.first, both.strata, redraws=redraws.permutations, seed=draws)
    interval = over_runs(experiment, both.units, both.differences)
    return Effect(
        name=name,
        outcome=outcome,
        arm=arm,
        control=control,
        env=env,
        method="permutation",
        estimate=interval.estimate,
        low=interval.low,
        high=interval.high,
        p=test.p,
        detectable=float(ndtri(1 - level / 2) + ndtri(POWER)) * interval.se,
        units=len(both.units),
        runs=len(set(run_numbers(experiment, both.units))),
        answers=both.values.size,
    )


def follows_worst(answer: Answered) -> float:
    """1 if the change is justified by the worst rollout, else 0."""
    return float(answer.driver == "worst")


def mentions_worst(answer: Answered) -> float:
    """1 if the answer speaks of the worst rollout, under whatever name, else 0."""
    return float("worst" in answer.mentioned)


def says_worst(answer: Answered) -> float:
    """1 if the word is in the answer, else 0."""
    return float(answer.says_worst)


def _beyond(both: Compared, values: Floats, placebo: Mapping[int, float], redraws: Redraws) -> float:
    differences = [value - placebo.get(unit, math.nan) for unit, value in zip(both.units, values, strict=True)]
    draws = redraws.draws(*both.masks, "beyond")
    return sign_flip_test(differences, alternative="greater", draws=redraws.permutations, seed=draws).p


def _bounded(distances: Floats) -> Floats:
    """Distances of a unit so bounded that its median one becomes one half."""
    positive = distances[distances > 0]
    return bounded(distances, float(np.median(positive))) if positive.size else distances
