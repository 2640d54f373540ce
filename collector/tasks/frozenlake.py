"""FrozenLake: cross a slippery 4×4 lake without falling into a hole."""

from __future__ import annotations

from typing import Any, Final

from collector.tasks.draws import uniform
from collector.tasks.dynamics import Dynamics, the_state
from collector.tasks.task import TabularSpace, Task, thresholds

GYM_ID: Final = "FrozenLake-v1"
MAP: Final[dict[str, Any]] = {"map_name": "4x4", "is_slippery": True}
SIDE: Final = 4
GOAL: Final = SIDE * SIDE - 1
HOLES: Final = (5, 7, 11, 12)
SLIP: Final = (1.0 - 1.0 / 3.0) / 2.0
"""Probability of each direction at right angles to the chosen one."""


def reset(generator: Any) -> int:
    """The upper left corner; Gymnasium draws a number to choose among the one start there is."""
    uniform(generator, 0.0, 1.0)
    return 0


def step(state: int, action: int, generator: Any) -> tuple[int, float, bool]:
    """Move one cell, in the chosen direction or at right angles to it."""
    chance = uniform(generator, 0.0, 1.0)
    if chance < SLIP:
        direction = (action + 3) % 4
    elif chance < SLIP + 1.0 / 3.0:
        direction = action
    else:
        direction = (action + 1) % 4
    row, column = state // SIDE, state % SIDE
    if direction == 0:
        column = max(column - 1, 0)
    elif direction == 1:
        row = min(row + 1, SIDE - 1)
    elif direction == 2:
        column = min(column + 1, SIDE - 1)
    else:
        row = max(row - 1, 0)
    cell = row * SIDE + column
    return cell, 1.0 if cell == GOAL else 0.0, cell == GOAL or cell in HOLES


TASK = Task(
    id="frozenlake",
    gym_id=GYM_ID,
    make_options=MAP,
    space=TabularSpace(states=16, actions=(0, 1, 2, 3)),
    optimum=1.0,
    tau_c=0.85,
    floor=0.0,
    success_return=1.0,
    step_cap=100,
    description="""\
An agent crosses a frozen lake, a grid of 4 rows and 4 columns. State 4*row + column is its cell: 0 is the start in
the upper left corner, 15 the goal in the lower right one. Some cells are holes; where they are is not told, but
rollouts that end early without a reward ended in one.
Observation: the state, a whole number from 0 to 15.
Actions: 0 left, 1 down, 2 right, 3 up. The ice is slippery: the agent moves in the chosen direction or in one of
the two directions at right angles to it, each with probability 1/3. A move against the border leaves it where it
is.
Reward: 1 on reaching the goal, 0 on every other step. A rollout terminates at the goal or in a hole, and is cut off
after 100 steps.""",
    thresholds=thresholds(partial=0.3, high=0.8, near_zero=0.05, floor=0.0, origin="authors"),
    dynamics=Dynamics(GYM_ID, reset, step, the_state, make_options=MAP),
)
