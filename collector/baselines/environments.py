"""A task's Gymnasium environment as Stable-Baselines3 can take it: observations as vectors, actions counted from 0."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from collector.errors import TaskError
from collector.tasks import Task

Environment = gymnasium.Env[Any, Any]


def make_environment(task: Task) -> Environment:
    """The environment of a task, cut off at the task's own step cap, which a switch may have changed."""
    environment: Environment = gymnasium.make(task.gym_id, disable_env_checker=True, **task.make_options).unwrapped
    environment = Guarded(environment, task)
    if task.step_cap is not None:
        environment = gymnasium.wrappers.TimeLimit(environment, task.step_cap)
    if isinstance(environment.observation_space, spaces.Discrete):
        environment = OneHot(environment)
    if isinstance(environment.action_space, spaces.Discrete) and environment.action_space.start:
        environment = FromZero(environment)
    return environment


class Guarded(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Name the task in errors: a user's environment may raise anything."""

    def __init__(self, env: Environment, task: Task) -> None:
        super().__init__(env)
        self._task = task.id

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        try:
            return self.env.reset(**options)
        except Exception as error:
            raise TaskError(f"task {self._task}: {type(error).__name__}: {error}") from error

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step."""
        try:
            result = self.env.step(action)
        except Exception as error:
            raise TaskError(f"task {self._task}: {type(error).__name__}: {error}") from error
        if not math.isfinite(result[1]):
            raise TaskError(f"task {self._task}: a reward is {result[1]}")
        return result


class OneHot(gymnasium.ObservationWrapper[NDArray[np.float32], Any, Any]):
    """A numbered state as a vector with a 1 in its place: numbers of states have no order to learn from."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        states = env.observation_space
        assert isinstance(states, spaces.Discrete)
        self._first, self._size = int(states.start), int(states.n)
        self.observation_space = spaces.Box(0.0, 1.0, (self._size,), np.float32)

    def observation(self, observation: Any) -> NDArray[np.float32]:
        """The vector of a state."""
        vector = np.zeros(self._size, np.float32)
        vector[int(observation) - self._first] = 1.0
        return vector


class FromZero(gymnasium.ActionWrapper[Any, np.int64, Any]):
    """Actions numbered from 0 for an environment that numbers them from somewhere else."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        inner = env.action_space
        assert isinstance(inner, spaces.Discrete)
        self._first = int(inner.start)
        self.action_space = spaces.Discrete(int(inner.n))

    def action(self, action: np.int64) -> int:
        """The environment's number of an action."""
        return int(action) + self._first
