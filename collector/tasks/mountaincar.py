"""MountainCar: rock a car that is too weak for the hill until it gets over it."""

from __future__ import annotations

from collector.records import Thresholds
from collector.tasks.task import LinearSpace, Task

TASK = Task(
    id="mountaincar",
    gym_id="MountainCar-v0",
    space=LinearSpace(
        observations=("position", "velocity"), actions=("push left", "coast", "push right"), discrete=True
    ),
    optimum=-120.0,
    tau_c=-120.0,
    floor=-200.0,
    success_return=-120.0,
    step_cap=200,
    description="""\
A car stands in a valley between two hills, and its engine is too weak to climb the right one from a standing start.
It has to swing back and forth to gain speed.
Observation: position along the track (from -1.2 to 0.6; the valley's bottom is near -0.5, the flag at 0.5),
velocity (from -0.07 to 0.07, rightwards is positive).
Actions: 0 pushes to the left, 1 does nothing, 2 pushes to the right.
Reward: -1 for every step. A rollout starts at rest near the bottom, terminates when the car reaches the flag, and
is cut off after 200 steps: -200 means that the car never got there.""",
    thresholds=Thresholds(
        partial=-170.0,
        high=-124.0,
        near_zero=4.0,
        meaningful=0.1,
        surgical_max=3,
        redesign_min=8,
        multi_state_min=4,
        floor=-200.0,
    ),
)
