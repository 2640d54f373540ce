"""`collector.rollout.evaluate` against a plain loop over `gymnasium.make`, as anybody would write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import gymnasium
import numpy as np

from benchmarks.timing import Comparison, compare
from collector import seeding
from collector.policy import Params, random_params
from collector.rollout import evaluate
from collector.tasks import TASKS, LinearSpace, Task

ROLLOUTS = 20
POLICIES = 5


def comparisons() -> Iterator[Comparison]:
    """One comparison a task, over the same policies and seeds."""
    for task in TASKS.values():
        work = [
            (
                random_params(task.space, seeding.generator(0, "benchmark", task.id, number)),
                seeding.seeds(0, ROLLOUTS, "benchmark", task.id, number),
            )
            for number in range(POLICIES)
        ]
        environment = gymnasium.make(task.gym_id, **task.make_options)
        yield compare(
            task.id,
            partial(_each, evaluate, task, work),
            partial(_each, partial(plain, environment), task, work),
        )
        environment.close()


def _each(way: Callable[..., object], task: Task, work: Sequence[tuple[Params, list[int]]]) -> None:
    for params, seeds in work:
        way(task, params, seeds)


def plain(environment: gymnasium.Env, task: Task, params: Params, seeds: list[int]) -> list[float]:
    """Returns of one rollout per seed."""
    if isinstance(task.space, LinearSpace):
        width = len(task.space.actions)
        weights, bias = np.reshape(params[:-width], (-1, width)), np.array(params[-width:])
    returns = []
    for seed in seeds:
        observation, _ = environment.reset(seed=seed)
        total, done = 0.0, False
        while not done:
            if isinstance(task.space, LinearSpace):
                action = int(np.argmax(observation @ weights + bias))
            else:
                action = int(params[observation])
            observation, reward, terminated, truncated, _ = environment.step(action)
            total += float(reward)
            done = terminated or truncated
        returns.append(total)
    return returns
