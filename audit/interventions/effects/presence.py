"""What the worst rollout's presence does: its weight among those shown, the trend over worse ones, harm to returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from audit.interventions.arms import BASE, QUANTILES
from audit.interventions.effects.comparisons import Redraws, compared, run_numbers, shared_units
from audit.interventions.effects.contrasts import mean_effect
from audit.interventions.effects.factors import ALONE
from audit.interventions.effects.results import Effect, Weight
from audit.interventions.experiment import Answered, Experiment, Floats
from audit.interventions.showing import ROLES
from audit.measures.bootstrap import percentile_interval, resampled_sums
from audit.measures.cluster_robust import cluster_robust
from audit.measures.mixture import mixture_terms, mixture_weights

PAIRS: Final = ((BASE, "RW"), ("RM", "RW"), (BASE, "DW"), ("DM", "DW"))
"""Arms that show the worst rollout, and the same without it: the whole evidence, and what lacks the median instead."""
_RESAMPLES: Final = 999


def weights(experiment: Experiment) -> list[Weight]:
    """The mixture of answers to single rollouts that is nearest to the answers to all three.

    The terms of the distance are averaged over units before weights are found, as those of one unit are too noisy.
    Prompts with one rollout differ from those with three in frame and length: weights are to be compared with each
    other, not with zero. Intervals resample runs.

    Args:
        experiment: its answers.

    Returns:
        Of the worst, the median and the best rollout; empty where the arms that show one are missing.
    """
    found = compared(experiment, (BASE, *ALONE))
    rows = []
    for place, distances in enumerate(found.distances):
        mean = distances.sum() / (len(distances) * (len(distances) - 1))
        references = [found.masks[arm][place] for arm in ALONE]
        a, b = mixture_terms(distances / mean if mean > 0 else distances, found.masks[BASE][place], references)
        rows.append(np.concatenate([a, b.ravel()]))
    if not rows:
        return []
    terms = np.array(rows)
    values = _of_sums(terms.sum(axis=0))
    ends = np.full((len(ROLES), 2), math.nan)
    runs = run_numbers(experiment, found.units)
    if runs.max() > 0:
        sums = np.array([terms[runs == run].sum(axis=0) for run in range(runs.max() + 1)])
        drawn = np.array([_of_sums(each) for each in resampled_sums(sums, resamples=_RESAMPLES)])
        ends = np.array([percentile_interval(column) for column in drawn.T])
    return [Weight(role, *numbers) for role, *numbers in zip(ROLES, values.tolist(), *ends.T.tolist(), strict=True)]


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


def _of_sums(sums: Floats) -> Floats:
    k = len(ROLES)
    return mixture_weights(sums[:k], sums[k:].reshape(k, k))
