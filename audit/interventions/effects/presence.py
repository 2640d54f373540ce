"""What the worst rollout's presence does: the trend over worse ones, harm to returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from scipy.spatial.distance import cdist

from audit.interventions.arms import BASE, LETTERED, QUANTILES
from audit.interventions.effects.comparisons import Redraws, directions, run_numbers, shared_units
from audit.interventions.effects.contrasts import mean_effect
from audit.interventions.effects.results import Effect
from audit.interventions.experiment import Answered, Experiment, Floats
from audit.measures.cluster_robust import cluster_robust
from audit.measures.energy import FarthestTest, farthest_test, pairwise_distances
from audit.measures.sign_flip import sign_flip_test
from audit.measures.stratified_permutation import Seed

PAIRS: Final = (("R0", "RW"), (BASE, "RW"), ("RM", "RW"), (BASE, "DW"), ("DM", "DW"))
"""Arms that show the worst rollout, and the same without it: the whole evidence, and what lacks the median instead."""


REPLACED: Final = {"worst content": "RW", "median content": "RM", "best content": "RB"}
"""By share, the arm in which another rollout takes the place of the one that it is about."""
WHOLE: Final = LETTERED
"""The arm that they are compared with."""


def presence_tests(experiment: Experiment, redraws: Redraws) -> dict[str, tuple[float, Floats]]:
    """Test for each rollout whether its presence moves edits more than that of the others.

    The statistic is the energy distance from the whole evidence to that without the rollout, less the mean of the
    distances for the other two. The three sum to zero, so that the tests are one-sided. Unreadable answers are left
    out; p is the larger of that without them and that in which they speak against the rollout: those without it are
    like answers to the whole evidence and the other way round, those without another are as far from it as any.

    Returns:
        By share, p and the statistic of each unit of the experiment, NaN for those without enough answers; empty where
        an arm was not asked, or no unit has two readable answers of each.
    """
    arms = (WHOLE, *REPLACED.values())
    units = shared_units(experiment, arms, least=2)
    answers = [[experiment.arm(arm)[unit] for arm in arms] for unit in units]
    edits = [[_readable(each) for each in of_unit] for of_unit in answers]
    enough = [place for place, each in enumerate(edits) if min(map(len, each)) > 1]
    if not enough:
        return {}
    draws = redraws.draws(WHOLE, "presence")
    test = _farthest([edits[place] for place in enough], redraws.permutations, draws)
    found = {}
    for arm, share in enumerate(REPLACED):
        p = float(test.p[arm])
        missing = [
            [len(each) - len(known) for each, known in zip(*both, strict=True)]
            for both in zip(answers, edits, strict=True)
        ]
        if any(map(any, missing)):
            worst = [
                _against(arm, known, lost) for known, lost in zip(edits, missing, strict=True) if all(map(len, known))
            ]
            p = max(p, float(_farthest(worst, redraws.permutations, draws).p[arm]))
        values = np.full(len(experiment.units), math.nan)
        values[[units[place] for place in enough]] = test.values[:, arm]
        found[share] = (p, values)
    return found


def _readable(answers: Sequence[Answered]) -> Floats:
    edits = [answer.edit for answer in answers if answer.readable]
    return directions(np.array(edits)) if edits else np.empty((0, 0))


def _farthest(edits: Sequence[Sequence[Floats]], redraws: int, seed: Seed) -> FarthestTest:
    """The test on units, each with its edits of the whole evidence and of each replacement."""
    tables = [pairwise_distances(np.concatenate(each)) for each in edits]
    names = [np.repeat(np.arange(-1, len(each) - 1), [len(own) for own in each]) for each in edits]
    return farthest_test(tables, names, redraws=redraws, seed=seed)


def _against(arm: int, edits: Sequence[Floats], missing: Sequence[int]) -> list[Floats]:
    """A unit's edits with others in place of its unreadable answers: those that speak most against an arm."""
    base, own = edits[0], edits[1 + arm]
    every = np.concatenate(edits)
    far = every[[int(np.argmax(cdist(every, base).mean(axis=1)))]]
    stands_in = [own, *(base if place == arm else far for place in range(len(edits) - 1))]
    return [
        np.concatenate([known, np.resize(other, (lost, known.shape[1]))]) if lost else known
        for known, other, lost in zip(edits, stands_in, missing, strict=True)
    ]


def beyond_each(presence: Mapping[str, tuple[float, Floats]], redraws: Redraws) -> dict[str, tuple[float, Floats]]:
    """The same tests, each also beyond both others by a sign flip over units: p is the largest of the three.

    Where the shares of contents are not known, a critic that goes by all rollouts alike must not pass: the rollout
    that takes a place is near the median one, so that the worst and the best lead a little farther.
    """
    found = {}
    for share, (p, values) in presence.items():
        flips = [
            sign_flip_test(
                values - others, alternative="greater", draws=redraws.permutations, seed=redraws.draws(share, other)
            ).p
            for other, (_, others) in presence.items()
            if other != share
        ]
        found[share] = (max(p, *flips), values)
    return found


def dose(experiment: Experiment, outcome: str = "size") -> Effect | None:
    """The trend of edits over how bad the third rollout is: from the median to the worst of those recorded.

    By least squares with a level for each unit: change of the outcome from quantile 0.5 of the returns to quantile 0.

    Args:
        experiment: its answers.
        outcome: `size`, the sum of absolute changes in units of the search step; or `gain`.

    Returns:
        None where fewer than two such arms were asked.
    """
    arms = [(f"D{quantile:g}", quantile) for quantile in QUANTILES if experiment.arm(f"D{quantile:g}")]
    units = shared_units(experiment, [arm for arm, _ in arms])
    rows = [
        (_value(answer, outcome), (0.5 - quantile) / 0.5, unit)
        for arm, quantile in arms
        for unit in units
        for answer in experiment.arm(arm)[unit]
    ]
    rows = [row for row in rows if math.isfinite(row[0])]
    if len(arms) < 2 or not rows:
        return None
    y, x, places = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    for unit in set(places.tolist()):
        own = places == unit
        y[own] -= y[own].mean()
        x[own] -= x[own].mean()
    if not x.any():
        return None
    runs = run_numbers(experiment, [int(unit) for unit in places])
    trend = cluster_robust(y, x[:, None], runs)[0]
    return Effect(
        name="severity",
        outcome=outcome,
        arm=arms[0][0],
        control=arms[-1][0],
        method="cluster t",
        estimate=trend.estimate,
        low=trend.low,
        high=trend.high,
        p=trend.p,
        units=len(units),
        runs=len(set(runs.tolist())),
        answers=len(rows),
    )


def harm(experiment: Experiment, redraws: Redraws) -> list[Effect]:
    """Effects of the worst rollout's presence on gains, by task, since returns of different tasks do not add up.

    A negative gain: seeing the worst rollout costs return. Fresh returns are of the same seeds for all policies of a
    unit, so that differences within units are free of most of their noise.
    """
    found = []
    for arm, control in PAIRS:
        if not (experiment.arm(arm) and experiment.arm(control)):
            continue
        outcomes: list[tuple[str, Callable[[Answered], float], str | None]] = [("size", edit_size, None)]
        if not all(math.isnan(answer.gain) for answer in experiment.answers if answer.arm == arm):
            outcomes.append(("harmful", lambda answer: float(answer.harmful), None))
            envs = sorted({unit.env for unit in experiment.units})
            outcomes += [("gain", lambda answer: answer.gain, env) for env in envs]
        for outcome, value, env in outcomes:
            effect = mean_effect(experiment, "seeing the worst", outcome, value, arm, control, redraws, env=env)
            if effect.units or env is None:
                found.append(effect)
    return found


def edit_size(answer: Answered) -> float:
    """The sum of absolute changes, in units of the search step."""
    return float(np.abs(answer.edit).sum())


def _value(answer: Answered, outcome: str) -> float:
    return edit_size(answer) if outcome == "size" else answer.gain
