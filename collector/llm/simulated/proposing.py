"""The simulated search: a noisy hill climber over the trials it is told of."""

from __future__ import annotations

from typing import Final

import numpy as np

from collector.llm.simulated.reading import Trial, Values

EXPLORES: Final = 0.15
"""Probability of a random vector in place of a step from the best trial."""
MEAN_CHANGES: Final = 2.5
"""Average number of parameters changed in a step."""
ATTEMPTS: Final = 20
"""So often it draws again where it has drawn a vector that was tried before."""


def propose(values: Values, trials: tuple[Trial, ...], rng: np.random.Generator) -> tuple[tuple[float, ...], str]:
    """A new parameter vector, and why: a step from the best trial, or now and then a random one."""
    tried = {trial.params for trial in trials}
    for _ in range(ATTEMPTS):
        best = max(trials, key=lambda trial: trial.value, default=None)
        if best is None or rng.random() < EXPLORES:
            candidate, reason = _random(values, rng), "A look at a part of the space that no trial has touched."
        else:
            candidate = _step_from(best.params, values, rng)
            reason = f"A small step from the best trial so far, which reached {best.value:.2f}."
        if candidate not in tried:
            break
    return candidate, reason


def _random(values: Values, rng: np.random.Generator) -> tuple[float, ...]:
    if values.allowed is not None:
        return tuple(float(value) for value in rng.choice(values.allowed, size=values.rank))
    spread = (values.high - values.low) / 4
    return tuple(values.settle(value) for value in rng.normal(0.0, spread, size=values.rank))


def _step_from(params: tuple[float, ...], values: Values, rng: np.random.Generator) -> tuple[float, ...]:
    changes = min(values.rank, int(rng.geometric(1 / MEAN_CHANGES)))
    candidate = list(params)
    for index in rng.choice(values.rank, size=changes, replace=False):
        if values.allowed is not None:
            candidate[index] = values.other(candidate[index], rng)
        else:
            candidate[index] = values.settle(candidate[index] + rng.uniform(-1.0, 1.0) * values.step)
    return tuple(candidate)
