"""Acrobot: swing the free end of a two-link pendulum above a line. An eleventh task, as an example."""

from collector.records import Thresholds
from collector.tasks import LinearSpace, Task

TASK = Task(
    id="acrobot",
    gym_id="Acrobot-v1",
    space=LinearSpace(
        observations=(
            "cosine of the first angle",
            "sine of the first angle",
            "cosine of the second angle",
            "sine of the second angle",
            "first angular velocity",
            "second angular velocity",
        ),
        actions=("torque -1", "no torque", "torque +1"),
        discrete=True,
    ),
    optimum=-80.0,
    tau_c=-100.0,
    floor=-500.0,
    success_return=-100.0,
    step_cap=500,
    description="""\
Two links hang from a fixed point, one below the other; a torque can be applied at the joint between them. The free end
should swing above a line one link length over the fixed point.
Observation: cosine and sine of the first joint's angle (0 hangs straight down), cosine and sine of the second joint's
angle against the first link, angular velocities of both joints (rad/s).
Actions: 0 applies a torque of -1 to the second joint, 1 none, 2 a torque of +1.
Reward: -1 for every step until the free end is above the line. A rollout terminates there, and is cut off after 500
steps: -500 means that it never got there.""",
    thresholds=Thresholds(
        partial=-350.0,
        high=-120.0,
        near_zero=20.0,
        meaningful=0.1,
        surgical_max=3,
        redesign_min=8,
        multi_state_min=4,
        floor=-500.0,
    ),
)
