"""What a task is: an environment, the policy class searched over, and the numbers that the methods need of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from collector.records import Thresholds
from collector.tasks.dynamics import Dynamics, MujocoDynamics


@dataclass(frozen=True, slots=True)
class LinearSpace:
    """Parameters of `observation @ W + b`: `W` row by row, then `b`.

    Attributes:
        observations: names of the observation's dimensions, in order: the rows of `W`.
        actions: names of the actions: the columns of `W` and the entries of `b`.
        discrete: the policy takes the action with the largest output (the first one on ties); otherwise the outputs
            are the action, clipped to the environment's action space.
        low, high: the range of a parameter.
        decimals: digits after the point that a parameter has.
        step_size: largest change per parameter that prompts suggest.
    """

    observations: tuple[str, ...]
    actions: tuple[str, ...]
    discrete: bool
    low: float = -6.0
    high: float = 6.0
    decimals: int = 1
    step_size: float = 1.0

    @property
    def size(self) -> int:
        """Number of parameters."""
        return (len(self.observations) + 1) * len(self.actions)


@dataclass(frozen=True, slots=True)
class TabularSpace:
    """Parameters of a table: entry *i* is the action taken in state *i*."""

    states: int
    actions: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.states


ParameterSpace = LinearSpace | TabularSpace


def thresholds(
    *,
    partial: float,
    high: float,
    near_zero: float,
    floor: float,
    counts: tuple[int, int, int] = (3, 8, 4),
    origin: str = "project",
) -> Thresholds:
    """Thresholds of the edit patterns for one of the project's tasks.

    Args:
        partial: the return above which a policy works in part, as in `docs/audit.md`.
        high: the return above which it works well.
        near_zero: the distance from the floor up to which a return counts as achieving nothing.
        floor: the return of a policy that achieves nothing.
        counts: parameters of a surgical change at most, of a redesign and of a change in several states at least.
        origin: who chose them.
    """
    surgical, redesign, multi_state = counts
    return Thresholds(
        partial=partial,
        high=high,
        near_zero=near_zero,
        meaningful=0.1,
        surgical_max=surgical,
        redesign_min=redesign,
        multi_state_min=multi_state,
        floor=floor,
        origin=origin,
    )


@dataclass(frozen=True, slots=True)
class Task:
    """One task, complete: everything that is particular to it.

    Attributes:
        id: the name used in options, records and tables.
        gym_id: the id under which Gymnasium makes the environment.
        space: the policy class and its parameters.
        optimum: the return that prompts name as about the best there is.
        tau_c: at or above this mean return the revision rule asks for restraint.
        floor: the return of a policy that achieves nothing.
        success_return: a rollout at or above it counts as a success.
        step_cap: a rollout is truncated after so many steps; none where the environment always ends by itself.
        description: the task as prompts describe it.
        thresholds: those of the edit patterns.
        warmup: number of random parameter vectors that open the history.
        make_options: what else Gymnasium needs to make the environment.
        clip_actions: continuous actions are clipped to the action space before the environment sees them.
        dynamics: the environment's arithmetic in a form that can be compiled; none where only Gymnasium's is known.
    """

    id: str
    gym_id: str
    space: ParameterSpace
    optimum: float
    tau_c: float
    floor: float
    success_return: float
    step_cap: int | None
    description: str
    thresholds: Thresholds
    warmup: int = 20
    make_options: dict[str, Any] = field(default_factory=dict)
    clip_actions: bool = True
    dynamics: Dynamics | MujocoDynamics | None = None

    @property
    def tau_c_half(self) -> float:
        """Half way from the floor to `tau_c`."""
        return self.floor + (self.tau_c - self.floor) / 2
