"""Compiled rollouts, checked against the plain loop before use."""

from __future__ import annotations

import dataclasses
import sys
from typing import Final

import numpy as np
from numba import config

from collector import seeding
from collector.policy import random_params
from collector.rollouts import plain_loop
from collector.rollouts.compiled.rollouts import ClosedLoopRollouts, CompiledRollouts
from collector.tasks import Task
from collector.tasks.dynamics import MujocoDynamics

TRIALS: Final = 2
TRIAL_STEPS: Final = 100


def prepare(task: Task) -> CompiledRollouts:
    """Compile a task's rollouts, or load them from the cache, and try them.

    Raises:
        ImportError: Numba is switched off.
        Exception: they cannot be compiled, or differ from the plain loop's.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise ImportError("NUMBA_DISABLE_JIT is set")
    rollouts = _make(task)
    if sys.stderr.isatty() and not rollouts.is_cached():
        sys.stderr.write(f"compiling {task.id}, once on this machine: some seconds\n")
    try:
        _try(task, rollouts)
    except Exception:
        # A damaged cache fails here in many ways; the second attempt is without it.
        rollouts.forget()
        rollouts = _make(task)
        _try(task, rollouts)
    return rollouts


def _make(task: Task) -> CompiledRollouts:
    if isinstance(task.dynamics, MujocoDynamics):
        from collector.rollouts.compiled.mujoco_rollouts import MujocoRollouts

        return MujocoRollouts(task)
    return ClosedLoopRollouts(task)


def _try(task: Task, rollouts: CompiledRollouts) -> None:
    """Run a few rollouts both ways, or as much of them as is quick."""
    short = dataclasses.replace(task, step_cap=min(task.step_cap or TRIAL_STEPS, TRIAL_STEPS))
    for trial in range(TRIALS):
        params = random_params(task.space, seeding.generator(0, "compiled", task.id, trial))
        (seed,) = seeding.seeds(0, 1, "compiled", task.id, trial)
        record = rollouts.trace(rollouts.job(short, params, [seed]))
        steps = list(plain_loop.steps(short, params, seed))
        observations = [step.observation for step in steps] + [steps[-1].next_observation]
        same = (
            np.array_equal(np.reshape(observations, (len(steps) + 1, -1)), record.observations)
            and [step.reward for step in steps] == record.rewards.tolist()
            and record.terminated == (steps[-1].ended == "terminated")
        )
        if not same:
            raise ArithmeticError("its numbers differ from Gymnasium's on this machine")
