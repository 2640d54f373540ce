"""Closed-loop rollouts: a rollout is a function of task, parameters and seed, and of nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from collector.policy import Action, Params
from collector.records import Ending
from collector.rollouts import plain_loop
from collector.rollouts.compiled import compiled_rollouts
from collector.tasks import TabularSpace, Task
from collector.tasks.dynamics import Dynamics

if TYPE_CHECKING:
    from collector.rollouts.compiled.rollouts import CompiledRollouts, Job, Record


class Evaluation(NamedTuple):
    """K rollouts of one parameter vector; each list has K entries, in the order of the seeds."""

    seeds: list[int]
    returns: list[float]
    lengths: list[int]
    ended: list[Ending]

    @property
    def mean_return(self) -> float:
        """Mean of the K returns."""
        return fmean(self.returns)

    @property
    def record(self) -> dict[str, Any]:
        """The fields of a candidate that it decides."""
        return {**self._asdict(), "mean_return": self.mean_return}


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One rollout, step by step: T actions and rewards, and the T + 1 observations around them."""

    observations: list[Any]
    actions: list[Action]
    rewards: list[float]
    ended: Ending

    @property
    def length(self) -> int:
        """Number of steps."""
        return len(self.actions)


def evaluate(task: Task, params: Params, seeds: Sequence[int]) -> Evaluation:
    """Roll out a policy once per seed; compiled where that is possible, with the same results.

    Args:
        task: the task.
        params: the parameter vector.
        seeds: one seed per rollout; each decides the rollout's first state and all its chance events.

    Raises:
        TaskError: the environment fails, or a reward is not a finite number.
        ValueError: the parameter vector has the wrong length.
    """
    compiled = _compiled(task, params, seeds)
    if compiled is not None:
        rollouts, job = compiled
        rollouts.evaluate(job)
        returns = job.returns.tolist()
        if math.isfinite(sum(returns)):  # if not, the plain loop names the step
            endings: list[Ending] = ["terminated" if end else "truncated" for end in job.terminated.tolist()]
            return Evaluation(list(seeds), returns, job.lengths.tolist(), endings)
    return _evaluate_plainly(task, params, seeds)


def replay(task: Task, params: Params, seed: int) -> Trajectory:
    """The same rollout that `evaluate` ran for this seed, with every step kept."""
    compiled = _compiled(task, params, [seed])
    if compiled is not None:
        rollouts, job = compiled
        record = rollouts.trace(job)
        if np.isfinite(record.rewards).all():
            return Trajectory(*_as_in_gymnasium(task, record), "terminated" if record.terminated else "truncated")
    steps = list(plain_loop.steps(task, params, seed))
    ended = steps[-1].ended
    assert ended is not None
    return Trajectory(
        observations=[step.observation for step in steps] + [steps[-1].next_observation],
        actions=[step.action for step in steps],
        rewards=[step.reward for step in steps],
        ended=ended,
    )


def is_compiled(task: Task) -> bool:
    """Whether rollouts of the task run compiled: quickly, and without the interpreter's lock.

    The first call for a task compiles its loops, or finds them in the cache.
    """
    return compiled_rollouts(task) is not None


def is_quick(task: Task) -> bool:
    """Whether rolling out takes less time than handing it to a worker: microseconds to a millisecond or so.

    Of writing a rollout for a prompt the same holds, but for the longest: up to 4 ms.
    """
    return isinstance(task.dynamics, Dynamics) and is_compiled(task)


def _compiled(task: Task, params: Params, seeds: Sequence[int]) -> tuple[CompiledRollouts, Job] | None:
    """The task's compiled rollouts if there are any, and these parameters and seeds as they take them."""
    if len(params) != task.space.size:
        raise ValueError(f"{len(params)} parameters given, {task.space.size} needed")
    if not seeds:
        return None
    if isinstance(task.space, TabularSpace) and not set(task.space.actions).issuperset(params):
        return None
    rollouts = compiled_rollouts(task)
    if rollouts is None:
        return None
    try:
        return rollouts, rollouts.job(task, params, seeds)
    except OverflowError:  # a seed is negative or has more than 64 bits
        return None


def _evaluate_plainly(task: Task, params: Params, seeds: Sequence[int]) -> Evaluation:
    returns: list[float] = []
    lengths: list[int] = []
    endings: list[Ending] = []
    for seed in seeds:
        total, length, ended = 0.0, 0, None
        for step in plain_loop.steps(task, params, seed):
            total += step.reward
            length += 1
            ended = step.ended
        assert ended is not None
        returns.append(total)
        lengths.append(length)
        endings.append(ended)
    return Evaluation(list(seeds), returns, lengths, endings)


def _as_in_gymnasium(task: Task, record: Record) -> tuple[list[Any], list[Action], list[float]]:
    """Observations, actions and rewards in the types that the plain loop has them in."""
    observations, actions, rewards, _ = record
    if isinstance(task.space, TabularSpace):
        return observations[:, 0].astype(int).tolist(), actions[:, 0].astype(int).tolist(), rewards.tolist()
    single = isinstance(task.dynamics, Dynamics) and task.dynamics.single
    seen = list(observations.astype(np.float32) if single else observations)
    if task.space.discrete:
        return seen, actions[:, 0].astype(int).tolist(), rewards.tolist()
    return seen, actions.tolist(), rewards.tolist()
