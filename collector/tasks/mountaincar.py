"""MountainCar: rock a car that is too weak for the hill until it gets over it."""

from __future__ import annotations

import math
from typing import Any, Final

from collector.tasks.draws import uniform
from collector.tasks.dynamics import Dynamics, the_state
from collector.tasks.task import LinearSpace, Task, thresholds

GYM_ID: Final = "MountainCar-v0"
LEFT_END: Final = -1.2
RIGHT_END: Final = 0.6
FLAG: Final = 0.5
TOP_SPEED: Final = 0.07
FORCE: Final = 0.001
GRAVITY: Final = 0.0025


def reset(generator: Any) -> tuple[float, float]:
    """At rest, near the bottom of the valley."""
    return uniform(generator, -0.6, -0.4), 0.0


def step(state: tuple[float, float], action: int, _generator: Any) -> tuple[tuple[float, float], float, bool]:
    """The dynamics by A. W. Moore (1990): thrust and slope change the speed, and the left end stops the car."""
    position, velocity = state
    velocity += (action - 1) * FORCE + math.cos(3 * position) * -GRAVITY
    velocity = min(max(velocity, -TOP_SPEED), TOP_SPEED)
    position = min(max(position + velocity, LEFT_END), RIGHT_END)
    if position == LEFT_END and velocity < 0:
        velocity = 0.0
    return (position, velocity), -1.0, position >= FLAG and velocity >= 0


TASK = Task(
    id="mountaincar",
    gym_id=GYM_ID,
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
    thresholds=thresholds(partial=-170.0, high=-124.0, near_zero=4.0, floor=-200.0),
    dynamics=Dynamics(GYM_ID, reset, step, the_state, single=True),
)
