"""Rollouts of MuJoCo's tasks: MuJoCo's own steps from the compiled loop, on all cores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from collector.rollouts.compiled import mujoco_loop
from collector.rollouts.compiled.rollouts import CompiledRollouts, Job, Numbers, share_out
from collector.rollouts.plain_loop import environment
from collector.tasks import Task
from collector.tasks.dynamics import Body, MujocoDynamics


class _Simulation(NamedTuple):
    """One thread's simulation, and views of its memory."""

    data: mujoco.MjData
    body: Body
    control: Numbers


class MujocoRollouts(CompiledRollouts):
    """Rollouts of a task of MuJoCo's; the model and its numbers are those of Gymnasium's environment."""

    def __init__(self, task: Task) -> None:
        assert isinstance(task.dynamics, MujocoDynamics)
        super().__init__(task.dynamics, task, mujoco_loop.compile_loop)
        env = environment(task)
        self._reset = task.dynamics.reset
        self._library = mujoco_loop.library()
        self._model: mujoco.MjModel = env.model  # type: ignore[attr-defined]
        self._frames: int = env.frame_skip  # type: ignore[attr-defined]
        self._rest: tuple[Numbers, Numbers] = env.init_qpos, env.init_qvel  # type: ignore[attr-defined]
        self.action_range = float(env.action_space.low[0]), float(env.action_space.high[0])  # type: ignore[attr-defined]
        self._own = threading.local()

    def _run(self, loop: Callable[..., None], job: Job) -> None:
        starts = self._starts(job.seeds)

        def work(part: slice) -> None:
            own = self._simulation()
            loop(
                self._library, self._model._address, own.data._address, own.body, own.control, self._frames,
                job.params, tuple(array[part] for array in starts), job.cap, job.low, job.high,
                job.returns[part], job.lengths[part], job.terminated[part], job.record,
            )  # fmt: skip

        share_out(work, len(job.seeds))

    def _starts(self, seeds: Sequence[int]) -> tuple[Numbers, Numbers]:
        """Positions and velocities that the rollouts start with, a row each."""
        drawn = [self._reset(np.random.Generator(np.random.PCG64(seed)), *self._rest) for seed in seeds]
        positions, velocities = zip(*drawn, strict=True)
        return np.array(positions), np.array(velocities)

    def _simulation(self) -> _Simulation:
        if not hasattr(self._own, "simulation"):
            data = mujoco.MjData(self._model)
            self._own.simulation = _Simulation(data, mujoco_loop.body(data), data.ctrl)
        simulation: _Simulation = self._own.simulation
        return simulation
