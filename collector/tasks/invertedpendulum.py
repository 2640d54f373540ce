"""InvertedPendulum: balance a pole on a cart with a force that can be measured out."""

from __future__ import annotations

from collector.records import Thresholds
from collector.tasks.task import LinearSpace, Task

TASK = Task(
    id="invertedpendulum",
    gym_id="InvertedPendulum-v5",
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
    thresholds=Thresholds(
        partial=360.0,
        high=900.0,
        near_zero=48.0,
        meaningful=0.1,
        surgical_max=2,
        redesign_min=4,
        multi_state_min=3,
        floor=0.0,
    ),
)
