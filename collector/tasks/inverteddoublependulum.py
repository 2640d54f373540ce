"""InvertedDoublePendulum: balance two poles, one on top of the other, on a cart."""

from __future__ import annotations

import math
from typing import Any, Final

from collector.tasks.dynamics import Body, MujocoDynamics
from collector.tasks.task import LinearSpace, Task, thresholds

GYM_ID: Final = "InvertedDoublePendulum-v5"
NOISE: Final = 0.1
CUT: Final = 10.0
"""Speeds and forces are observed up to this size."""
SUNK: Final = 1.0
"""Height of the upper tip at which a rollout terminates."""


def reset(generator: Any, positions: Any, velocities: Any) -> tuple[Any, Any]:
    """Upright and at rest, roughly."""
    positions = positions + generator.uniform(-NOISE, NOISE, len(positions))
    return positions, velocities + generator.standard_normal(len(velocities)) * NOISE


def cut(value: float) -> float:
    """A speed or force as it is observed."""
    return min(max(value, -CUT), CUT)


def observe(body: Body) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Cart position, sines and cosines of both angles, the three speeds, the force of the rail on the cart."""
    positions, velocities = body.positions, body.velocities
    return (
        positions[0],
        math.sin(positions[1]), math.sin(positions[2]), math.cos(positions[1]), math.cos(positions[2]),
        cut(velocities[0]), cut(velocities[1]), cut(velocities[2]), cut(body.constraint[0]),
    )  # fmt: skip


def reward(body: Body, _before: float, _action: Any) -> tuple[float, bool]:
    """10 while the upper tip is up, less for a tip off its place and for fast poles."""
    x, height = body.sites[0, 0], body.sites[0, 2]
    sunk = height <= SUNK
    off = 0.01 * math.pow(x, body.two) + math.pow(height - 2, body.two)
    fast = 1e-3 * math.pow(body.velocities[1], body.two) + 5e-3 * math.pow(body.velocities[2], body.two)
    return (0.0 if sunk else 10.0) - off - fast, sunk


TASK = Task(
    id="inverteddoublependulum",
    gym_id=GYM_ID,
    space=LinearSpace(
        observations=(
            "cart position",
            "sine of the lower pole's angle",
            "sine of the upper pole's angle",
            "cosine of the lower pole's angle",
            "cosine of the upper pole's angle",
            "cart velocity",
            "lower pole's angular velocity",
            "upper pole's angular velocity",
            "constraint force on the cart",
        ),
        actions=("force",),
        discrete=False,
    ),
    optimum=10000.0,
    tau_c=450.0,
    floor=0.0,
    success_return=9100.0,
    step_cap=1000,
    description="""\
A pole stands on a cart that slides along a rail, and a second pole stands on the first. At every step a force
pushes the cart, and both poles should stay upright.
Observation: cart position (metres), sine of the lower pole's angle from upright, sine of the upper pole's angle
against the lower, cosine of the first of these angles, cosine of the second, cart velocity (m/s), angular velocity
of the lower pole, angular velocity of the upper one against it (rad/s), constraint force on the cart along the rail
(N).
Action: one number, the force on the cart, from -1 (left) to 1 (right). Values beyond are cut to that range.
Reward: every step earns 10, less a penalty for the upper tip being off its upright place and one for fast poles;
between 9 and 10 a step is usual. A rollout terminates when the upper tip sinks to a height of 1 or less, and is cut
off after 1000 steps. The best policies earn more than 9000.""",
    thresholds=thresholds(partial=170.0, high=430.0, near_zero=22.0, floor=0.0),
    dynamics=MujocoDynamics(GYM_ID, reset, observe, reward, helpers=(cut,)),
)
