"""FrozenLake: cross a slippery 4×4 lake without falling into a hole."""

from __future__ import annotations

from collector.records import Thresholds
from collector.tasks.task import TabularSpace, Task

TASK = Task(
    id="frozenlake",
    gym_id="FrozenLake-v1",
    make_options={"map_name": "4x4", "is_slippery": True},
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
    thresholds=Thresholds(
        partial=0.3,
        high=0.8,
        near_zero=0.05,
        meaningful=0.1,
        surgical_max=3,
        redesign_min=8,
        multi_state_min=4,
        floor=0.0,
        origin="authors",
    ),
)
