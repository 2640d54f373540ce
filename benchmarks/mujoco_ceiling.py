"""The rate of bare `mj_step`: the same controls from the same states, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium
import mujoco
import numpy as np
from mujoco import rollout as open_loop

from benchmarks.timing import best_times
from benchmarks.workloads import ROLLOUTS, Workload
from collector.policy import Params
from collector.rollouts.evaluate import evaluate, replay
from collector.tasks import Task

AT_LEAST = 5
"""Rollouts that are timed."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Seconds of one evaluation on one core: of nothing but `mj_step`, and ours."""

    bare: float
    ours: float


def measure(workload: Workload) -> Ceiling:
    """Time both over the same rollouts.

    The bare time is the better one of two: of a loop in Python, and of `mujoco.rollout`, which is a loop in C++.
    """
    task, each = workload.task, max(1, AT_LEAST // len(workload.policies))
    environment: Any = gymnasium.make(task.gym_id, **task.make_options).unwrapped
    rollouts = [(params, seed) for params, seeds in workload.policies for seed in seeds[:each]]
    controls = [_controls(task, environment, params, seed) for params, seed in rollouts]
    ours, python, native = best_times(
        partial(_ours, task, rollouts),
        partial(_in_python, environment, controls),
        partial(_in_native_code, environment, controls),
    )
    environment.close()
    scale = ROLLOUTS / len(rollouts)
    return Ceiling(bare=min(python, native) * scale, ours=ours * scale)


def _controls(task: Task, environment: Any, params: Params, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """First state and controls of a rollout."""
    environment.reset(seed=seed)
    start = np.zeros(mujoco.mj_stateSize(environment.model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(environment.model, environment.data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    actions = np.array(replay(task, params, seed).actions)
    bounds = environment.action_space
    return start, np.clip(actions.astype(np.float32), bounds.low, bounds.high).astype(float)


def _ours(task: Task, rollouts: list[tuple[Params, int]]) -> None:
    for params, seed in rollouts:  # one at a time, so that one core does the work
        evaluate(task, params, [seed])


def _in_python(environment: Any, rollouts: list[tuple[np.ndarray, np.ndarray]]) -> None:
    model, data, frames = environment.model, environment.data, environment.frame_skip
    for start, controls in rollouts:
        mujoco.mj_setState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        for control in controls:
            data.ctrl[:] = control
            mujoco.mj_step(model, data, frames)


def _in_native_code(environment: Any, rollouts: list[tuple[np.ndarray, np.ndarray]]) -> None:
    for start, controls in rollouts:
        repeated = np.repeat(controls, environment.frame_skip, axis=0)
        open_loop.rollout(environment.model, environment.data, start[None], repeated[None])
