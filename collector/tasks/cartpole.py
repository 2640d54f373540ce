"""CartPole: balance a pole on a cart by pushing the cart left or right."""

from __future__ import annotations

from collector.records import Thresholds
from collector.tasks.task import LinearSpace, Task

TASK = Task(
    id="cartpole",
    gym_id="CartPole-v1",
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
    thresholds=Thresholds(
        partial=200.0,
        high=450.0,
        near_zero=20.0,
        meaningful=0.1,
        surgical_max=3,
        redesign_min=8,
        multi_state_min=4,
        floor=0.0,
        origin="authors",
    ),
)
