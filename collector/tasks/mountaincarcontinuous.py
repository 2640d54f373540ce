"""MountainCarContinuous: the car on the hill, with a force that can be measured out and costs energy."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from collector.tasks.draws import uniform
from collector.tasks.dynamics import Dynamics
from collector.tasks.task import LinearSpace, Task, thresholds

GYM_ID: Final = "MountainCarContinuous-v0"
FORCE: Final = 0.0015
GRAVITY: Final = 0.0025


def single(value: float) -> float:
    """A number rounded to single precision, as a double."""
    return np.float64(np.float32(value))  # Numba's `float` would leave it single


LEFT_END: Final = single(-1.2)
RIGHT_END: Final = single(0.6)
FLAG: Final = single(0.45)
TOP_SPEED: Final = single(0.07)

State = tuple[float, float, bool]
"""Position, velocity, and whether a step was taken: Gymnasium keeps both in single precision from then on."""


def reset(generator: Any) -> State:
    """At rest, near the bottom of the valley; in double precision."""
    return uniform(generator, -0.6, -0.4), 0.0, False


def step(state: State, action: tuple[float], _generator: Any) -> tuple[State, float, bool]:
    """The dynamics by A. W. Moore (1990) with a continuous thrust, rounded wherever Gymnasium rounds."""
    position, velocity, started = state
    force = single(action[0])
    slope = GRAVITY * math.cos(single(3.0 * position) if started else 3.0 * position)
    if -1.0 <= force <= 1.0:
        push = single(single(force * single(FORCE)) - single(slope))
    else:  # a bound takes the force's place, and that is in double precision
        push = (FORCE if force > 1.0 else -FORCE) - slope
    if started:
        velocity = min(max(single(velocity + single(push)), -TOP_SPEED), TOP_SPEED)
        position = single(position + velocity)
    else:
        velocity += push
        position += velocity
    position = min(max(position, LEFT_END), RIGHT_END)
    if position == LEFT_END and velocity < 0:
        velocity = 0.0
    arrived = position >= FLAG and velocity >= 0
    reward = (100.0 if arrived else 0.0) - force * force * 0.1
    return (single(position), single(velocity), True), reward, arrived


def observe(state: State) -> tuple[float, float]:
    """Position and velocity."""
    return state[0], state[1]


TASK = Task(
    id="mountaincarcontinuous",
    gym_id=GYM_ID,
    space=LinearSpace(observations=("position", "velocity"), actions=("force",), discrete=False),
    optimum=100.0,
    tau_c=97.0,
    floor=0.0,
    success_return=90.0,
    step_cap=999,
    description="""\
A car stands in a valley between two hills, and its engine is too weak to climb the right one from a standing start.
It has to swing back and forth to gain speed, and should not waste energy.
Observation: position along the track (from -1.2 to 0.6; the valley's bottom is near -0.5, the flag at 0.45),
velocity (from -0.07 to 0.07, rightwards is positive).
Action: one number, the force: from -1, full to the left, to 1, full to the right. Values beyond are cut to that
range.
Reward: every step costs 0.1 times the square of the force; reaching the flag earns 100. A rollout starts at rest
near the bottom, terminates at the flag, and is cut off after 999 steps. A car that does nothing earns 0.""",
    thresholds=thresholds(partial=36.0, high=92.0, near_zero=5.0, counts=(1, 3, 2), floor=0.0),
    dynamics=Dynamics(GYM_ID, reset, step, observe, single=True, action_range=(-1.0, 1.0), helpers=(single,)),
)
