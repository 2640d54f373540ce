"""A walk on a line, with dynamics of its own that are compiled. A twelfth task, as an example."""

from typing import Any

import gymnasium
from numpy.random import Generator

from collector.records import Thresholds
from collector.tasks import TabularSpace, Task
from collector.tasks.draws import uniform
from collector.tasks.dynamics import Dynamics
from collector.tasks.environment import DynamicsEnv

GYM_ID = "salience-audit-examples/Walk-v0"
PLACES = 7
SLIP = 0.2


def reset(_generator: Generator) -> int:
    """The middle."""
    return PLACES // 2


def step(state: int, action: int, generator: Generator) -> tuple[int, float, bool]:
    """One place to the left (0) or to the right (1); now and then the other way."""
    right = (action == 1) != (uniform(generator, 0.0, 1.0) < SLIP)
    state += 1 if right else -1
    return state, 1.0 if state == PLACES - 1 else 0.0, state in (0, PLACES - 1)


def observe(state: int) -> int:
    """The place."""
    return state


class WalkEnv(DynamicsEnv):
    """What Gymnasium makes of it."""

    dynamics = Dynamics(GYM_ID, reset, step, observe)
    observation_space: Any = gymnasium.spaces.Discrete(PLACES)
    action_space: Any = gymnasium.spaces.Discrete(2)


TASK = Task(
    id="walk",
    gym_id=GYM_ID,
    space=TabularSpace(states=PLACES, actions=(0, 1)),
    optimum=1.0,
    tau_c=0.95,
    floor=0.0,
    success_return=1.0,
    step_cap=100,
    description="""\
An agent stands in the middle of a row of seven places and walks to the left or to the right; one step in five goes the
other way.
Observation: the place, from 0 on the left to 6 on the right.
Actions: 0 left, 1 right.
Reward: 1 on reaching place 6, 0 on every other step. A rollout terminates at either end, and is cut off after 100
steps.""",
    thresholds=Thresholds(
        partial=0.3,
        high=0.9,
        near_zero=0.05,
        meaningful=0.1,
        surgical_max=1,
        redesign_min=4,
        multi_state_min=2,
        floor=0.0,
    ),
    dynamics=WalkEnv.dynamics,
)

if GYM_ID not in gymnasium.registry:
    gymnasium.register(GYM_ID, entry_point=WalkEnv, max_episode_steps=100)
