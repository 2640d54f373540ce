"""EnvPool as a peer, where it is installed: environments on threads, and the policy one NumPy product for all."""

from __future__ import annotations

import importlib
import importlib.metadata
import time
import warnings
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.workloads import ROLLOUTS, Workload
from collector.rollouts.evaluate import evaluate
from collector.tasks import LinearSpace

envpool: ModuleType | None
try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        envpool = importlib.import_module("envpool")
    note = f"EnvPool {importlib.metadata.version('envpool')}"
except Exception as error:  # it may be missing, or be there and not import: then there is no such column
    envpool, note = None, f"without EnvPool ({type(error).__name__}: {error})"

REPETITIONS = 3


def seconds(workload: Workload) -> float | None:
    """Seconds of one evaluation at its rate of steps; none where EnvPool or the task in it is not to be had."""
    task = workload.task
    if envpool is None or task.gym_id not in envpool.list_all_envs():
        return None
    environment = envpool.make(task.gym_id, env_type="gymnasium", num_envs=ROLLOUTS, seed=1)
    best = float("inf")
    for _ in range(REPETITIONS):
        started, steps = time.perf_counter(), 0
        for params, _ in workload.policies:
            steps += _evaluate(environment, task.space, np.array(params))
        best = min(best, (time.perf_counter() - started) / steps)
    environment.close()
    return best * _steps(workload)


def _evaluate(environment: Any, space: Any, params: np.ndarray) -> int:
    """Step until every environment has ended once; those that end early begin anew, and their steps count."""
    width = len(space.actions)
    if isinstance(space, LinearSpace):
        weights, bias = params[:-width].reshape(-1, width), params[-width:]
    observation, _ = environment.reset()
    running, steps = np.ones(ROLLOUTS, bool), 0
    while running.any():
        if not isinstance(space, LinearSpace):
            action = params[observation].astype(np.int32)
        elif space.discrete:
            action = (observation @ weights + bias).argmax(axis=1).astype(np.int32)
        else:
            bounds = environment.action_space
            action = np.clip(observation @ weights + bias, bounds.low, bounds.high).astype(bounds.dtype)
        observation, _, terminated, truncated, _ = environment.step(action)
        running &= ~(terminated | truncated)
        steps += ROLLOUTS
    return steps


def _steps(workload: Workload) -> float:
    lengths = [evaluate(workload.task, params, seeds).lengths for params, seeds in workload.policies]
    return float(np.sum(lengths)) / len(lengths)
