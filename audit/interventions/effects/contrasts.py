"""An arm against its control: do edits differ in distribution, and by more than a placebo makes them differ?

Edits are compared within units only, by energy distances of their directions, in units of the mean distance of the
unit's answers; names of arms are permuted within units. A model may answer another wording differently although it
means the same, so that an effect counts only if it is larger than those of placebos. Where four or more were asked,
they are a sample of all changes without a meaning: an effect has to be above the one-sided prediction limit for one
more of them. With fewer, the difference from `P1` is taken per unit, and its sign is flipped, which is exact if arm and
placebo are exchangeable given their control.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from audit.interventions.arms import ARMS, BASE, PLACEBOS, REDRAWN, WORDING
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
from audit.measures.prediction import prediction_p
from audit.measures.sign_flip import sign_flip_test
from audit.measures.stratified_permutation import stratified_difference

FEWEST_PLACEBOS: Final = 4
"""Placebos from which on they are taken for a sample of all changes without a meaning."""

Placebos = Mapping[str, Mapping[int, float]]
"""By placebo, the energy distance of each unit from the placebo's control."""


def placebos(experiment: Experiment) -> Placebos:
    """What the placebos do, unit by unit."""
    found: dict[str, Mapping[int, float]] = {}
    for arm in (*PLACEBOS, REDRAWN):
        both = compared(experiment, (arm, BASE))
        found[arm] = dict(zip(both.units, both.test().values.tolist(), strict=True))
    return found


def population(against: Placebos, *, without: str | None = None) -> list[float]:
    """The mean energy distance of each placebo that was asked, but for one that is tested itself."""
    return [
        float(np.nanmean([*values.values()]))
        for arm, values in against.items()
        if arm in PLACEBOS and arm != without and any(map(math.isfinite, values.values()))
    ]


def edit_effect(
    experiment: Experiment,
    arm: str,
    control: str,
    redraws: Redraws,
    *,
    against: Placebos,
    sensitivity: bool = True,
) -> Effect:
    """Test an arm's effect on edits.

    Args:
        experiment: its answers.
        arm: that is tested.
        control: that it is compared with.
        redraws: redraws and their seed.
        against: what placebos do.
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
    others = population(against, without=arm)
    if len(others) >= FEWEST_PLACEBOS:
        beyond[WORDING] = prediction_p(result.statistic, others)
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
