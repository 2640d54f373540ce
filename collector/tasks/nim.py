"""Nim: ten sticks, taken by ones, twos and threes; the player who takes the last one loses."""

from __future__ import annotations

from typing import Any, Final

import gymnasium

from collector.tasks.draws import integer
from collector.tasks.dynamics import Dynamics, the_state
from collector.tasks.environment import DynamicsEnv
from collector.tasks.task import TabularSpace, Task, thresholds

GYM_ID: Final = "salience-audit/Nim-v0"
STICKS: Final = 10
MOST: Final = 3


def reset(_generator: Any) -> int:
    """Ten sticks."""
    return STICKS


def step(state: int, action: int, generator: Any) -> tuple[int, float, bool]:
    """Take sticks, then let the opponent take some. Taking more than are left loses at once.

    The opponent leaves 1, 5 or 9 sticks; from there every move loses, so any is as good.
    """
    if action >= state:  # too many, or the last one
        return 0, -1.0, True
    state -= action
    reply = (state - 1) % (MOST + 1)
    if reply == 0:
        reply = integer(generator, 1, min(MOST, state) + 1)
    state -= reply
    return state, 1.0 if state == 0 else 0.0, state == 0


class NimEnv(DynamicsEnv):
    """The agent moves first; the opponent makes no mistakes. Observation: sticks left. A win earns 1, a loss -1."""

    dynamics = Dynamics(GYM_ID, reset, step, the_state)
    observation_space = gymnasium.spaces.Discrete(STICKS + 1)
    action_space = gymnasium.spaces.Discrete(MOST, start=1)


TASK = Task(
    id="nim",
    gym_id=GYM_ID,
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
    thresholds=thresholds(partial=-0.25, high=0.85, near_zero=0.1, floor=-1.0),
    dynamics=NimEnv.dynamics,
)

if GYM_ID not in gymnasium.registry:
    gymnasium.register(GYM_ID, entry_point="collector.tasks.nim:NimEnv")
