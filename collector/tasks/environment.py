"""Gymnasium environments of dynamics that are the project's own."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from collector.tasks.dynamics import Dynamics


class DynamicsEnv(gymnasium.Env[Any, np.int64]):
    """An environment that steps through a task's dynamics. A subclass names them and its spaces."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own name and type
    dynamics: ClassVar[Dynamics]

    def __init__(self, render_mode: None = None) -> None:
        self.render_mode = render_mode
        self._state: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a rollout; without a seed the generator continues where it was."""
        super().reset(seed=seed, options=options)
        self._state = self.dynamics.reset(self.np_random)
        return self._observation(), {}

    def step(self, action: int | np.int64) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; the step cap is Gymnasium's to keep."""
        self._state, reward, terminated = self.dynamics.step(self._state, int(action), self.np_random)
        return self._observation(), reward, terminated, False, {}

    def _observation(self) -> Any:
        return np.array(self.dynamics.observe(self._state), dtype=self.observation_space.dtype)[()]
