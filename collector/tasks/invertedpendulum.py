"""InvertedPendulum: balance a pole on a cart with a force that can be measured out."""

from __future__ import annotations

import math
from typing import Any, Final

from collector.tasks.dynamics import Body, MujocoDynamics
from collector.tasks.task import LinearSpace, Task, thresholds

GYM_ID: Final = "InvertedPendulum-v5"
NOISE: Final = 0.01
LEAN: Final = 0.2


def reset(generator: Any, positions: Any, velocities: Any) -> tuple[Any, Any]:
    """Upright and at rest, almost."""
    positions = positions + generator.uniform(-NOISE, NOISE, len(positions))
    return positions, velocities + generator.uniform(-NOISE, NOISE, len(velocities))


def observe(body: Body) -> tuple[float, float, float, float]:
    """Positions and velocities of cart and pole."""
    return body.positions[0], body.positions[1], body.velocities[0], body.velocities[1]


def reward(body: Body, _before: float, _action: Any) -> tuple[float, bool]:
    """1 while the pole is upright."""
    x, angle, x_speed, angle_speed = observe(body)
    finite = math.isfinite(x) and math.isfinite(angle) and math.isfinite(x_speed) and math.isfinite(angle_speed)
    fallen = not finite or abs(angle) > LEAN
    return 0.0 if fallen else 1.0, fallen


TASK = Task(
    id="invertedpendulum",
    gym_id=GYM_ID,
    space=LinearSpace(
        observations=("cart position", "pole angle", "cart velocity", "pole angular velocity"),
        actions=("force",),
        discrete=False,
    ),
    optimum=1000.0,
    tau_c=950.0,
    floor=0.0,
    success_return=1000.0,
    step_cap=1000,
    description="""\
A pole stands on a cart that slides along a rail. At every step a force pushes the cart, and the pole should stay
upright.
Observation: cart position (metres, right is positive), pole angle (radians from upright), cart velocity (m/s), pole
angular velocity (rad/s).
Action: one number, the force on the cart, from -3 (left) to 3 (right). Values beyond are cut to that range.
Reward: 1 for every step with the pole upright. A rollout terminates when the pole leans by more than 0.2 rad, and
is cut off after 1000 steps. A rollout of 1000 steps is perfect.""",
    thresholds=thresholds(partial=360.0, high=900.0, near_zero=48.0, counts=(2, 4, 3), floor=0.0),
    dynamics=MujocoDynamics(GYM_ID, reset, observe, reward),
)
