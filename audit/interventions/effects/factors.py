"""What answers follow where order, labels and numbers of the rollouts are drawn at random: arm `C`.

Since every attribute was drawn for itself, the share of answers that follow the rollout which happens to have it
measures its effect, whatever else the rollouts are like. Which rollout an answer follows is read off its text; or off
its edit, by how close that is to the edits that were made for each rollout alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from audit.interventions.arms import CONJOINT
from audit.interventions.effects.comparisons import Redraws, run_numbers, shared_units
from audit.interventions.effects.results import Effect
from audit.interventions.effects.shares import ALONE
from audit.interventions.experiment import Answered, Experiment, Floats
from audit.interventions.showing import ROLES
from audit.measures.cluster_robust import clustered_mean
from audit.measures.conditional_randomisation import conditional_randomisation_test

Holder = Callable[[Answered], int | None]
Scores = Callable[[Answered], Floats | None]


def _place_of(role: str, attribute: str) -> Holder:
    """The place of the rollout with that label, or with that number; None where no rollout has it."""
    return lambda answer: next(
        (index for index, place in enumerate(answer.shown) if getattr(place, attribute) == role), None
    )


HOLDERS: Final[Mapping[str, Holder]] = {
    "label": _place_of("worst", "label"),
    "number": _place_of("worst", "number"),
    "position": lambda answer: 0 if answer.shown else None,
    "last position": lambda answer: len(answer.shown) - 1 if answer.shown else None,
}
"""By factor, the place of the rollout that has it."""


def factor_effect(
    experiment: Experiment,
    factor: str,
    redraws: Redraws,
    *,
    outcome: str = "text",
    scores: Scores | None = None,
    hidden_only: bool = False,
) -> Effect:
    """Test whether answers follow the rollout that has some attribute.

    Args:
        experiment: its answers.
        factor: one of `HOLDERS`.
        redraws: redraws and their seed.
        outcome: what `scores` are.
        scores: how far an answer follows the rollout at each place, shape (places,), None for answers that do not
            count; without, 1 for the one that its text is justified by, and 0 for all where that is none or none can
            be read.
        hidden_only: only calls without returns, in which no label contradicts a number.
    """
    scores = scores or text_scores
    rows: list[tuple[int, int, Floats]] = []
    for unit, answers in sorted(experiment.arm(CONJOINT).items()):
        if factor == "number" and experiment.units[unit].number_readable:
            continue
        for answer in answers:
            if hidden_only and any(place.number is not None for place in answer.shown):
                continue
            holder, score = HOLDERS[factor](answer), scores(answer)
            if holder is not None and score is not None and len(answer.shown) == len(ROLES):
                rows.append((unit, holder, score))
    if hidden_only:
        outcome = f"{outcome}, numbers hidden"
    result = conditional_randomisation_test(
        np.array([score for *_, score in rows]).reshape(-1, len(ROLES)),
        [holder for _, holder, _ in rows],
        redraws=redraws.permutations,
        seed=redraws.draws(CONJOINT, factor, outcome),
    )
    units = [unit for unit, *_ in rows]
    runs = run_numbers(experiment, units)
    interval = clustered_mean(result.effects, runs)
    return Effect(
        name=factor,
        outcome=outcome,
        arm=CONJOINT,
        control=None,
        method="conditional randomisation",
        estimate=result.effect,
        low=interval.low,
        high=interval.high,
        p=result.p,
        units=len(set(units)),
        runs=len(set(runs.tolist())),
        answers=result.calls,
    )


def text_scores(answer: Answered) -> Floats:
    """1 at the place of the rollout that the change is justified by."""
    return np.array([float(place.content == answer.driver) for place in answer.shown])


def direction_scores(experiment: Experiment) -> Scores:
    """How far an edit goes in the direction of those made for each rollout alone.

    Edits are scaled to a sum of 1, because rollouts differ in which parameters they ask to change; with the mean
    m of a rollout's own edits, the score is 2 x'm - m'm, less its mean over the three rollouts: the distance to that
    mean, up to what is the same for all.
    """
    centroids: dict[int, Mapping[str, Floats]] = {}
    for unit in shared_units(experiment, ALONE):
        means = [np.mean([_scaled(a.edit) for a in experiment.arm(arm)[unit]], axis=0) for arm in ALONE]
        centroids[unit] = dict(zip(ROLES, means, strict=True))

    def scores(answer: Answered) -> Floats | None:
        known = centroids.get(answer.unit)
        if known is None or any(place.content not in known for place in answer.shown):
            return None
        edit = _scaled(answer.edit)
        closeness = np.array([2 * edit @ known[p.content] - known[p.content] @ known[p.content] for p in answer.shown])
        return np.asarray(closeness - closeness.mean())

    return scores


def _scaled(edit: Floats) -> Floats:
    size = float(np.abs(edit).sum())
    return edit / size if size else edit
