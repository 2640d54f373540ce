"""Closed-loop rollouts, one step of Gymnasium's environment after the other.

The reference for what a rollout is: every task can be run so, and the compiled loops give the same to the bit.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from collector.errors import TaskError
from collector.policy import Action, Params, make_policy
from collector.records import Ending
from collector.tasks import LinearSpace, Task


class Step(NamedTuple):
    """One step of a rollout; `ended` is how the rollout ended, if it did."""

    observation: Any
    action: Action
    reward: float
    next_observation: Any
    ended: Ending | None


def steps(task: Task, params: Params, seed: int, env: gymnasium.Env[Any, Any] | None = None) -> Iterator[Step]:
    """One rollout. The step cap is applied here, as Gymnasium's TimeLimit does: a termination at the cap stays one.

    Args:
        task: the task.
        params: the parameter vector.
        seed: decides the first state and all chance events.
        env: the environment to step through; by default the one that this thread keeps for the task.

    Raises:
        TaskError: the environment fails, or a reward is not a finite number.
    """
    policy = make_policy(task.space, params)
    try:
        yield from _unguarded_steps(task, policy, seed, environment(task) if env is None else env)
    except TaskError as error:
        raise TaskError(f"task {task.id}, seed {seed}: {error}") from None
    except (GeneratorExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Whatever a user's environment raises is its own; the policy and the loop here raise nothing.
        raise TaskError(f"task {task.id}, seed {seed}: {type(error).__name__}: {error}") from error


def _unguarded_steps(
    task: Task, policy: Callable[[Any], Action], seed: int, env: gymnasium.Env[Any, Any]
) -> Iterator[Step]:
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
        yield Step(observation, action, float(reward), following, ended)
        if ended:
            return
        observation = following


def _is_continuous(task: Task) -> bool:
    return isinstance(task.space, LinearSpace) and not task.space.discrete


def _to_env(space: Any, *, clip: bool) -> Callable[[Action], Any]:
    if clip:
        return lambda action: np.clip(np.asarray(action, dtype=space.dtype), space.low, space.high)
    return lambda action: np.asarray(action, dtype=space.dtype)


class _Environments(threading.local):
    """A thread's environments by task: two that stepped through the same one would disturb each other."""

    def __init__(self) -> None:
        self.made: dict[str, gymnasium.Env[Any, Any]] = {}


_environments = _Environments()


def environment(task: Task) -> gymnasium.Env[Any, Any]:
    """The task's environment, made once per thread; as each rollout seeds it, nothing carries over."""
    made = _environments.made
    if task.id not in made:
        made[task.id] = gymnasium.make(task.gym_id, disable_env_checker=True, **task.make_options).unwrapped
    return made[task.id]
