"""Evaluation episodes, all of one evaluation side by side, so that the policy is called once per step for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collector.baselines.environments import Environment
from collector.records import Ending
from collector.rollouts.evaluate import Evaluation

Act = Callable[[NDArray[Any]], Sequence[Any] | NDArray[Any]]
"""Actions for observations: n of them for an array of shape (n, dimensions)."""


def evaluate(environments: Sequence[Environment], seeds: Sequence[int], act: Act) -> Evaluation:
    """One episode per environment and seed, to its end.

    Args:
        environments: K environments of one task; they are reset first.
        seeds: K seeds, one per episode.
        act: the policy.
    """
    count = len(seeds)
    observations = [environment.reset(seed=seed)[0] for environment, seed in zip(environments, seeds, strict=True)]
    returns, lengths = [0.0] * count, [0] * count
    endings: dict[int, Ending] = {}
    while running := [index for index in range(count) if index not in endings]:
        actions = act(np.stack([observations[index] for index in running]))
        for index, action in zip(running, actions, strict=True):
            observations[index], reward, terminated, truncated, _ = environments[index].step(action)
            returns[index] += float(reward)
            lengths[index] += 1
            if terminated or truncated:
                endings[index] = "terminated" if terminated else "truncated"
    return Evaluation(list(seeds), returns, lengths, [endings[index] for index in range(count)])
