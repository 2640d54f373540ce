"""Swimmer: move a chain of three links forward through a fluid by bending its two joints."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from collector.tasks.dynamics import Body, MujocoDynamics
from collector.tasks.task import LinearSpace, Task, thresholds

GYM_ID: Final = "Swimmer-v5"
NOISE: Final = 0.1
SECONDS: Final = 0.01 * 4
"""Duration of a step: four of MuJoCo's."""
EFFORT: Final = 1e-4


def reset(generator: Any, positions: Any, velocities: Any) -> tuple[Any, Any]:
    """Nearly straight and at rest."""
    positions = positions + generator.uniform(-NOISE, NOISE, len(positions))
    return positions, velocities + generator.uniform(-NOISE, NOISE, len(velocities))


def observe(body: Body) -> tuple[float, float, float, float, float, float, float, float]:
    """The three angles, and all velocities; where the swimmer is, it does not see."""
    positions, velocities = body.positions, body.velocities
    return (
        positions[2], positions[3], positions[4],
        velocities[0], velocities[1], velocities[2], velocities[3], velocities[4],
    )  # fmt: skip


def reward(body: Body, before: float, action: Any) -> tuple[float, bool]:
    """Speed in x less the effort, which is reckoned in single precision as the torques are."""
    effort = np.float32(EFFORT) * (action[0] * action[0] + action[1] * action[1])
    return (body.positions[0] - before) / SECONDS - effort, False


TASK = Task(
    id="swimmer",
    gym_id=GYM_ID,
    space=LinearSpace(
        observations=(
            "angle of the front link",
            "angle of the first joint",
            "angle of the second joint",
            "x velocity of the tip",
            "y velocity of the tip",
            "angular velocity of the front link",
            "angular velocity of the first joint",
            "angular velocity of the second joint",
        ),
        actions=("torque on the first joint", "torque on the second joint"),
        discrete=False,
    ),
    optimum=250.0,
    tau_c=230.0,
    floor=0.0,
    success_return=250.0,
    step_cap=1000,
    description="""\
A swimmer of three links in a row, joined by two joints, lies in a viscous fluid and should swim in the positive x
direction as fast as it can.
Observation: angle of the front link, angle of the first joint, angle of the second joint (rad), x velocity and y
velocity of the front tip (m/s), angular velocities of the front link, the first and the second joint (rad/s).
Actions: two numbers, the torques on the first and the second joint, each from -1 to 1. Values beyond are cut to
that range.
Reward: the distance gained in x per unit of time, less a small cost of the torques. A rollout never terminates and
is cut off after 1000 steps. A swimmer that does not move earns about 0.""",
    thresholds=thresholds(partial=85.0, high=220.0, near_zero=12.0, floor=0.0),
    dynamics=MujocoDynamics(GYM_ID, reset, observe, reward),
)
