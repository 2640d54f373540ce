"""CartPole: balance a pole on a cart by pushing the cart left or right."""

from __future__ import annotations

import math
from typing import Any, Final

from collector.tasks.draws import uniform
from collector.tasks.dynamics import Dynamics, the_state
from collector.tasks.task import LinearSpace, Task, thresholds

GYM_ID: Final = "CartPole-v1"
GRAVITY: Final = 9.8
POLE_MASS: Final = 0.1
TOTAL_MASS: Final = 1.0 + POLE_MASS
HALF_LENGTH: Final = 0.5
POLE_MOMENT: Final = POLE_MASS * HALF_LENGTH
FORCE: Final = 10.0
SECONDS: Final = 0.02
"""Duration of a step."""
TRACK: Final = 2.4
LEAN: Final = 12 * 2 * math.pi / 360


def reset(generator: Any) -> tuple[float, float, float, float]:
    """Nearly upright, nearly at rest, near the centre."""
    return (
        uniform(generator, -0.05, 0.05),
        uniform(generator, -0.05, 0.05),
        uniform(generator, -0.05, 0.05),
        uniform(generator, -0.05, 0.05),
    )


def step(
    state: tuple[float, float, float, float], action: int, _generator: Any
) -> tuple[tuple[float, float, float, float], float, bool]:
    """One Euler step of the equations of motion by A. G. Barto, R. S. Sutton and C. W. Anderson (1983), no friction."""
    x, x_speed, angle, angle_speed = state
    cosine, sine = math.cos(angle), math.sin(angle)
    push = ((FORCE if action == 1 else -FORCE) + POLE_MOMENT * (angle_speed * angle_speed) * sine) / TOTAL_MASS
    angle_acceleration = (GRAVITY * sine - cosine * push) / (
        HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * (cosine * cosine) / TOTAL_MASS)
    )
    x_acceleration = push - POLE_MOMENT * angle_acceleration * cosine / TOTAL_MASS
    x += SECONDS * x_speed
    x_speed += SECONDS * x_acceleration
    angle += SECONDS * angle_speed
    angle_speed += SECONDS * angle_acceleration
    fallen = x < -TRACK or x > TRACK or angle < -LEAN or angle > LEAN
    return (x, x_speed, angle, angle_speed), 1.0, fallen


TASK = Task(
    id="cartpole",
    gym_id=GYM_ID,
    space=LinearSpace(
        observations=("cart position", "cart velocity", "pole angle", "pole angular velocity"),
        actions=("push left", "push right"),
        discrete=True,
    ),
    optimum=500.0,
    tau_c=480.0,
    floor=0.0,
    success_return=500.0,
    step_cap=500,
    description="""\
A pole stands on a cart that rolls along a straight track. At every step the cart is pushed, with a fixed force, to
the left or to the right, and the pole should stay upright.
Observation: cart position (metres from the centre of the track, right is positive), cart velocity (m/s), pole angle
(radians from upright, leaning right is positive), pole angular velocity (rad/s).
Actions: 0 pushes the cart to the left, 1 pushes it to the right.
Reward: 1 for every step. A rollout terminates when the pole leans by more than about 0.209 rad (12 degrees) to
either side or the cart is more than 2.4 m from the centre, and is cut off after 500 steps, which is perfect.""",
    thresholds=thresholds(partial=200.0, high=450.0, near_zero=20.0, floor=0.0, origin="authors"),
    dynamics=Dynamics(GYM_ID, reset, step, the_state, single=True),
)
