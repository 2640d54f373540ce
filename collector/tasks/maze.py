"""Maze: find the way through a 3×3 grid with walls."""

from __future__ import annotations

from typing import Any, Final

import gymnasium

from collector.tasks.dynamics import Dynamics, the_state
from collector.tasks.environment import DynamicsEnv
from collector.tasks.task import TabularSpace, Task, thresholds

GYM_ID: Final = "salience-audit/Maze-v0"
SIDE: Final = 3
GOAL: Final = SIDE * SIDE - 1
STEP_CAP: Final = 100
STEP_REWARD: Final = -0.1 / (SIDE * SIDE)
PASSAGES: Final = ((0, 1), (1, 2), (2, 5), (4, 5), (0, 3), (3, 6), (6, 7), (7, 8))
"""Neighbouring cells, the smaller first, with no wall between them."""
MOVES: Final = (-SIDE, SIDE, 1, -1)
"""What up, down, right and left do to the number of a cell."""


def reset(_generator: Any) -> int:
    """The upper left cell."""
    return 0


def step(state: int, action: int, _generator: Any) -> tuple[int, float, bool]:
    """Move to the next cell, or stay where a wall is."""
    neighbour = state + MOVES[action]
    if (min(state, neighbour), max(state, neighbour)) in PASSAGES:
        state = neighbour
    return state, 1.0 if state == GOAL else STEP_REWARD, state == GOAL


class MazeEnv(DynamicsEnv):
    """Cells are numbered row by row; the agent starts in 0. The goal, 8, earns 1; every other step costs a little."""

    dynamics = Dynamics(GYM_ID, reset, step, the_state)
    observation_space = gymnasium.spaces.Discrete(SIDE * SIDE)
    action_space = gymnasium.spaces.Discrete(len(MOVES))


TASK = Task(
    id="maze",
    gym_id=GYM_ID,
    space=TabularSpace(states=SIDE * SIDE, actions=(0, 1, 2, 3)),
    optimum=0.97,
    tau_c=0.90,
    floor=-1.11,
    success_return=0.96,
    step_cap=STEP_CAP,
    description="""\
An agent looks for the way through a maze, a grid of 3 rows and 3 columns. State 3*row + column is its cell: 0 is
the start in the upper left corner, 8 the goal in the lower right one. There are walls between some neighbouring
cells; where they are is not told, but a move that leaves the state as it was met a wall or the border.
Observation: the state, a whole number from 0 to 8.
Actions: 0 up, 1 down, 2 right, 3 left. Moves are certain.
Reward: 1 on reaching the goal, -0.0111 on every other step. A rollout terminates at the goal, and is cut off after
100 steps. The shortest way earns about 0.97.""",
    thresholds=thresholds(partial=-0.35, high=0.8, near_zero=0.1, floor=-1.11),
    dynamics=MazeEnv.dynamics,
)

if GYM_ID not in gymnasium.registry:
    gymnasium.register(GYM_ID, entry_point="collector.tasks.maze:MazeEnv", max_episode_steps=STEP_CAP)
