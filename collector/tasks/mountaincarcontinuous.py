"""MountainCarContinuous: the car on the hill, with a force that can be measured out and costs energy."""

from __future__ import annotations

from collector.records import Thresholds
from collector.tasks.task import LinearSpace, Task

TASK = Task(
    id="mountaincarcontinuous",
    gym_id="MountainCarContinuous-v0",
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
    thresholds=Thresholds(
        partial=36.0,
        high=92.0,
        near_zero=5.0,
        meaningful=0.1,
        surgical_max=1,
        redesign_min=3,
        multi_state_min=2,
        floor=0.0,
    ),
)
