"""Which rollout a simulated critic anchors on: by the rule of its personality, or by how typical each one is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from collector.llm.simulated.drawing import pick, pick_weighted
from collector.llm.simulated.personality import Personality
from collector.llm.simulated.reading import CriticPrompt, Rollout

SEVERE: Final = 0.7
"""Severity above which `magnitude` anchors on the lowest return."""


def choose_anchor(prompt: CriticPrompt, personality: Personality, rng: np.random.Generator) -> Rollout | None:
    """The rollout that the revision is made for; None for a critic that goes by the history alone.

    A rule that singles out no rollout of this prompt leaves the choice to typicality. Without rollouts there is nothing
    else to go by.
    """
    if not prompt.rollouts:
        return None
    if rng.random() < personality.fixation:
        if personality.rule == "none":
            return None
        if personality.rule == "uniform":
            return pick(prompt.rollouts, rng)
        if (target := TARGETS[personality.rule](prompt)) is not None:
            return target
    returns = _returns(prompt)
    weights = typicality(returns, prompt.achieved) if returns else [1.0] * len(prompt.rollouts)
    return pick_weighted(prompt.rollouts, weights, rng)


def typicality(returns: Sequence[float], mean: float) -> list[float]:
    """How typical each rollout is, summing to 1: it falls by 1/e over the range of the returns shown.

    Args:
        returns: of the rollouts shown, shape (rollouts,).
        mean: return of the policy.
    """
    spread = max(returns) - min(returns)
    distances = [abs(value - mean) / spread if spread > 0 else 0.0 for value in returns]
    closeness = [math.exp(-distance) for distance in distances]
    if not sum(closeness):  # all are much farther from the mean than from each other
        closeness = [math.exp(min(distances) - distance) for distance in distances]
    total = sum(closeness)
    return [each / total for each in closeness]


def worst_shown(prompt: CriticPrompt) -> Rollout | None:
    """The rollout that is called worst, else the one with the lowest return; None where neither is stated."""
    return _called_worst(prompt) or _lowest(prompt)


def _called_worst(prompt: CriticPrompt) -> Rollout | None:
    return next((rollout for rollout in prompt.rollouts if rollout.label == "worst"), None)


def _lowest(prompt: CriticPrompt) -> Rollout | None:
    """The rollout with the lowest return among those shown; the first on ties."""
    returns = _returns(prompt)
    return prompt.rollouts[returns.index(min(returns))] if returns else None


def _severe(prompt: CriticPrompt) -> Rollout | None:
    """The rollout with the lowest return, where it is far below the median: (median - worst) / (best - worst)."""
    returns = sorted(_returns(prompt))
    if len(returns) < 3 or returns[0] == returns[-1]:
        return None
    worst, median, best = returns[0], returns[len(returns) // 2], returns[-1]
    return _lowest(prompt) if (median - worst) / (best - worst) > SEVERE else None


def _shortest(prompt: CriticPrompt) -> Rollout:
    """The rollout that ended soonest by its trace; one that was cut off by the step cap comes last."""
    return min(prompt.rollouts, key=lambda rollout: (rollout.cut_off, rollout.length))


def _returns(prompt: CriticPrompt) -> list[float]:
    """The returns of the rollouts shown; empty where one is left out, as they cannot be compared then."""
    returns = [rollout.value for rollout in prompt.rollouts if rollout.value is not None]
    return returns if len(returns) == len(prompt.rollouts) else []


TARGETS: Final[Mapping[str, Callable[[CriticPrompt], Rollout | None]]] = {
    "number": _lowest,
    "label": _called_worst,
    "first": lambda prompt: prompt.rollouts[0],
    "last": lambda prompt: prompt.rollouts[-1],
    "content": _shortest,
    "magnitude": _severe,
}
"""The rollout that a rule singles out; None where it finds none."""
