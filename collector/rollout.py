"""Closed-loop rollouts: a rollout is a function of task, parameters and seed, and of nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import fmean
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from collector.errors import TaskError
from collector.policy import Action, Params, make_policy
from collector.records import Ending
from collector.tasks import LinearSpace, Task


@dataclass(frozen=True, slots=True)
class Evaluation:
    """K rollouts of one parameter vector; each list has K entries, in the order of the seeds."""

    seeds: list[int]
    returns: list[float]
    lengths: list[int]
    ended: list[Ending]

    @property
    def mean_return(self) -> float:
        """Mean of the K returns."""
        return fmean(self.returns)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One rollout, step by step: T actions and rewards, and the T + 1 observations around them."""

    observations: list[Any]
    actions: list[Action]
    rewards: list[float]
    ended: Ending

    @property
    def length(self) -> int:
        """Number of steps."""
        return len(self.actions)


def evaluate(task: Task, params: Params, seeds: Sequence[int]) -> Evaluation:
    """Roll out a policy once per seed.

    Args:
        task: the task.
        params: the parameter vector.
        seeds: one seed per rollout; each decides the rollout's first state and all its chance events.

    Raises:
        TaskError: the environment fails, or a reward is not a finite number.
    """
    policy = make_policy(task.space, params)
    returns: list[float] = []
    lengths: list[int] = []
    endings: list[Ending] = []
    for seed in seeds:
        total, length, ended = 0.0, 0, None
        for step in _steps(task, policy, seed):
            total += step.reward
            length += 1
            ended = step.ended
        assert ended is not None
        returns.append(total)
        lengths.append(length)
        endings.append(ended)
    return Evaluation(list(seeds), returns, lengths, endings)


def replay(task: Task, params: Params, seed: int) -> Trajectory:
    """The same rollout that `evaluate` ran for this seed, with every step kept."""
    steps = list(_steps(task, make_policy(task.space, params), seed))
    ended = steps[-1].ended
    assert ended is not None
    return Trajectory(
        observations=[step.observation for step in steps] + [steps[-1].next_observation],
        actions=[step.action for step in steps],
        rewards=[step.reward for step in steps],
        ended=ended,
    )


class _Step(NamedTuple):
    observation: Any
    action: Action
    reward: float
    next_observation: Any
    ended: Ending | None


def _steps(task: Task, policy: Callable[[Any], Action], seed: int) -> Iterator[_Step]:
    """One rollout. The step cap is applied here, as Gymnasium's TimeLimit does: a termination at the cap stays one."""
    try:
        yield from _unguarded_steps(task, policy, seed)
    except TaskError as error:
        raise TaskError(f"task {task.id}, seed {seed}: {error}") from None
    except Exception as error:
        # Whatever a user's environment raises is its own; the policy and the loop here raise nothing.
        raise TaskError(f"task {task.id}, seed {seed}: {type(error).__name__}: {error}") from error


def _unguarded_steps(task: Task, policy: Callable[[Any], Action], seed: int) -> Iterator[_Step]:
    env = _environment(task)
    to_env = _to_env(env.action_space, clip=task.clip_actions) if _is_continuous(task) else None
    observation, _ = env.reset(seed=seed)
    for length in count(1):
        action = policy(observation)
        following, reward, terminated, truncated, _ = env.step(action if to_env is None else to_env(action))
        if not math.isfinite(reward):
            raise TaskError(f"the reward of step {length} is {reward}")
        ended: Ending | None = (
            "terminated" if terminated else "truncated" if truncated or length == task.step_cap else None
        )
        yield _Step(observation, action, float(reward), following, ended)
        if ended:
            return
        observation = following


def _is_continuous(task: Task) -> bool:
    return isinstance(task.space, LinearSpace) and not task.space.discrete


def _to_env(space: Any, *, clip: bool) -> Callable[[Action], Any]:
    if clip:
        return lambda action: np.clip(np.asarray(action, dtype=space.dtype), space.low, space.high)
    return lambda action: np.asarray(action, dtype=space.dtype)


_environments: dict[str, gymnasium.Env[Any, Any]] = {}


def _environment(task: Task) -> gymnasium.Env[Any, Any]:
    """The task's environment, made once per process; as each rollout seeds it, nothing carries over."""
    if task.id not in _environments:
        _environments[task.id] = gymnasium.make(task.gym_id, disable_env_checker=True, **task.make_options).unwrapped
    return _environments[task.id]
