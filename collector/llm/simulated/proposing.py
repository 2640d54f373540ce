"""The simulated search: a noisy hill climber over the trials in its prompt."""

from __future__ import annotations

from statistics import fmean
from typing import Final

import numpy as np

from collector.llm.simulated.reading import SearchPrompt, Trial, Values

EXPLORES: Final = 0.25
"""Probability of a random vector in place of a step from a good trial."""
CROSSES: Final = 0.25
"""Probability that a step starts from a mixture of two good trials rather than from one."""
RANKS: Final = (0.6, 0.25, 0.15)
"""Probability of stepping from the best, the second and the third best trial."""
MEAN_CHANGES: Final = {"linear": 2.5, "table": 1.5}
"""Average number of parameters changed in a step, by policy class."""
LEAPS: Final = 0.3
"""Probability of a step that is LEAP times as long as suggested."""
LEAP: Final = 3.0
SINGLE_WORTH: Final = 0.5
"""A single return is one draw: its excess over the average trial is scaled by this factor."""
ATTEMPTS: Final = 20
"""Redraws where a vector was tried before."""


def propose(prompt: SearchPrompt, rng: np.random.Generator) -> tuple[tuple[float, ...], str]:
    """A new parameter vector, and why: a step from one or two good trials, or now and then a random one."""
    values, trials = prompt.values, prompt.trials
    tried = {trial.params for trial in trials}
    ranking = rank(trials)[: len(RANKS)]
    for _ in range(ATTEMPTS):
        if not ranking or rng.random() < EXPLORES:
            candidate, reason = _random(values, rng), "A look at a part of the space that no trial has touched."
        else:
            weights = np.array(RANKS[: len(ranking)])
            base = ranking[int(rng.choice(len(ranking), p=weights / weights.sum()))]
            start = base.params
            if rng.random() < CROSSES:
                mate = ranking[int(rng.integers(len(ranking)))].params
                start = tuple(np.where(rng.random(values.rank) < 0.5, start, mate))
            candidate = step_from(start, values, rng)
            reason = f"A small step from one of the best trials so far, which reached {base.value:.2f}."
        if candidate not in tried:
            break
    return candidate, reason


def rank(trials: tuple[Trial, ...]) -> list[Trial]:
    """The trials from best to worst; of equal ones the latest first, so that the search moves along a plateau."""
    if not trials:
        return []
    average = fmean(trial.value for trial in trials)

    def worth(trial: Trial) -> float:
        return average + SINGLE_WORTH * (trial.value - average) if trial.single else trial.value

    by_worth = sorted(range(len(trials)), key=lambda number: (worth(trials[number]), number), reverse=True)
    return [trials[number] for number in by_worth]


def _random(values: Values, rng: np.random.Generator) -> tuple[float, ...]:
    if values.allowed is not None:
        return tuple(float(value) for value in rng.choice(values.allowed, size=values.rank))
    spread = (values.high - values.low) / 4
    return tuple(values.settle(value) for value in rng.normal(0.0, spread, size=values.rank))


def step_from(params: tuple[float, ...], values: Values, rng: np.random.Generator) -> tuple[float, ...]:
    """A step from a vector: a few parameters move by about the suggested step, or take another allowed value."""
    mean = MEAN_CHANGES["linear" if values.allowed is None else "table"]
    changes = min(values.rank, int(rng.geometric(1 / mean)))
    length = values.step * (LEAP if rng.random() < LEAPS else 1.0)
    candidate = [float(value) for value in params]
    for index in rng.choice(values.rank, size=changes, replace=False):
        if values.allowed is not None:
            candidate[index] = values.other(candidate[index], rng)
        else:
            candidate[index] = values.settle(candidate[index] + rng.normal() * length)
    return tuple(candidate)
