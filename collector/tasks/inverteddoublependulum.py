"""InvertedDoublePendulum: balance two poles, one on top of the other, on a cart."""

from __future__ import annotations

from collector.records import Thresholds
from collector.tasks.task import LinearSpace, Task

TASK = Task(
    id="inverteddoublependulum",
    gym_id="InvertedDoublePendulum-v5",
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
    thresholds=Thresholds(
        partial=170.0,
        high=430.0,
        near_zero=22.0,
        meaningful=0.1,
        surgical_max=3,
        redesign_min=8,
        multi_state_min=4,
        floor=0.0,
    ),
)
