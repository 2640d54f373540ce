"""A task's dynamics as plain functions of numbers, which run as they are and can be compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Dynamics:
    """The arithmetic of an environment.

    All functions keep to what Numba compiles: numbers, tuples of numbers, constants of their module, `math`, and the
    functions of `collector.tasks.draws`. Where an environment of Gymnasium's exists too, they agree with it to the
    bit, as tests check.

    Attributes:
        gym_id, make_options: the environment that this is the arithmetic of.
        reset: from a generator, the first state: a tuple of numbers.
        step: from state, action and generator, the next state, the reward and whether the rollout terminated.
        observe: from a state, the observation: a tuple of numbers for a linear policy, a whole number for a table.
        single: the policy sees the observation rounded to single precision.
        action_range: bounds of a continuous action.
        helpers: functions of the module that those above call.
    """

    gym_id: str
    reset: Callable[[Any], Any]
    step: Callable[[Any, Any, Any], tuple[Any, float, bool]]
    observe: Callable[[Any], Any]
    single: bool = False
    action_range: tuple[float, float] | None = None
    helpers: tuple[Callable[..., Any], ...] = ()
    make_options: dict[str, Any] = field(default_factory=dict)


def the_state(state: Any) -> Any:
    """An observation that is the state itself."""
    return state


class Body(NamedTuple):
    """A simulation as MuJoCo holds it, between two steps.

    Attributes:
        positions, velocities: of the joints.
        sites: positions of the marked points, a row each.
        constraint: forces of constraints on the joints.
        two: the number 2. Gymnasium squares by `pow`, which now and then differs from x·x in the last bit, and a
            compiler that knew the exponent would put the one in the place of the other.
    """

    positions: Any
    velocities: Any
    sites: Any
    constraint: Any
    two: float


@dataclass(frozen=True, slots=True)
class MujocoDynamics:
    """What an environment adds to MuJoCo's own steps; the physics stay MuJoCo's.

    `observe` and `reward` can be compiled, and see the simulation as a `Body`.

    Attributes:
        gym_id, make_options: the environment that this is part of.
        reset: from a generator and the model's own positions and velocities, those that a rollout starts with.
        observe: from the body, the observation: a tuple of numbers.
        reward: from the body after a step, the first position before it, and the action, the reward and whether the
            rollout terminated.
        helpers: functions of the module that those above call.
    """

    gym_id: str
    reset: Callable[[Any, Any, Any], tuple[Any, Any]]
    observe: Callable[[Any], Any]
    reward: Callable[[Any, float, Any], tuple[float, bool]]
    helpers: tuple[Callable[..., Any], ...] = ()
    make_options: dict[str, Any] = field(default_factory=dict)
