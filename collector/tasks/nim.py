"""Nim: ten sticks, taken by ones, twos and threes; whoever takes the last one loses."""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np

from collector.records import Thresholds
from collector.tasks.task import TabularSpace, Task

STICKS: Final = 10
MOST: Final = 3


class NimEnv(gymnasium.Env[np.int64, np.int64]):
    """The agent moves first; the opponent makes no mistakes. Observation: sticks left. A win earns 1, a loss -1."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own name and type

    def __init__(self, render_mode: None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Discrete(STICKS + 1)
        self.action_space = gymnasium.spaces.Discrete(MOST, start=1)
        self.sticks = STICKS

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Lay out ten sticks."""
        super().reset(seed=seed, options=options)
        self.sticks = STICKS
        return np.int64(self.sticks), {}

    def step(self, action: int | np.int64) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        """Take sticks, then let the opponent take some. Taking more than are left loses at once."""
        if action >= self.sticks:  # too many, or the last one
            self.sticks = 0
            return self._end(-1.0)
        self.sticks -= int(action)
        self.sticks -= self._reply()
        if self.sticks == 0:
            return self._end(1.0)
        return np.int64(self.sticks), 0.0, False, False, {}

    def _reply(self) -> int:
        """Leave 1, 5 or 9 sticks; from there every move loses, so any is as good."""
        best = (self.sticks - 1) % (MOST + 1)
        return best or int(self.np_random.integers(1, min(MOST, self.sticks) + 1))

    def _end(self, reward: float) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        return np.int64(self.sticks), reward, True, False, {}


TASK = Task(
    id="nim",
    gym_id="salience-audit/Nim-v0",
    space=TabularSpace(states=STICKS + 1, actions=(1, 2, 3)),
    optimum=1.0,
    tau_c=0.95,
    floor=-1.0,
    success_return=1.0,
    step_cap=None,
    description="""\
A game of Nim with 10 sticks. The agent moves first, then the opponent, and so on in turn; each takes 1, 2 or 3
sticks. Whoever takes the last stick loses, and so does an agent that wants to take more sticks than are left. The
opponent makes no mistakes; where every move loses, it picks one at random.
Observation: the number of sticks left before the agent's move, from 0 to 10.
Actions: the number of sticks to take: 1, 2 or 3.
Reward: 1 for a win, -1 for a loss, 0 for every move before that. A rollout terminates when the game is over.""",
    thresholds=Thresholds(
        partial=-0.25,
        high=0.85,
        near_zero=0.1,
        meaningful=0.1,
        surgical_max=3,
        redesign_min=8,
        multi_state_min=4,
        floor=-1.0,
    ),
)

if TASK.gym_id not in gymnasium.registry:
    gymnasium.register(TASK.gym_id, entry_point="collector.tasks.nim:NimEnv")
