"""What tests of the baselines share: which there are, a run of one, and a training that only pretends."""

from __future__ import annotations

import asyncio
import importlib.util

import pytest

from collector import seeding
from collector.baselines import planning
from collector.baselines.methods import fitting
from collector.baselines.planning import BaselineRun
from collector.baselines.running import run_baseline
from collector.errors import CollectorError
from collector.llm.simulated import SimulatedModel
from collector.plan import Request, plan
from collector.rollouts.evaluate import Evaluation
from collector.run_folder import RunFolder
from collector.tasks import TASKS

DISCRETE = {"nim", "pong", "mountaincar", "frozenlake", "cartpole", "maze"}
ANY, ONLY_DISCRETE = ["sb3-a2c", "sb3-ppo", "sb3-trpo"], ["sb3-dqn"]
ONLY_CONTINUOUS = ["sb3-sac", "sb3-td3", "sb3-ddpg"]
PAIRS = [(baseline.id, task.id) for task in TASKS.values() for baseline in fitting(task)]

_without_sb3 = pytest.mark.skipif(
    any(importlib.util.find_spec(module) is None for module in planning.PACKAGES.values()),
    reason="Stable-Baselines3 is not installed (extra: baselines)",
)


def needs_sb3(test):
    """Mark a test that imports PyTorch, which takes seconds: it is slow, and skipped where it is not installed."""
    return pytest.mark.slow(_without_sb3(test))


def request(*variants, envs=("cartpole",), **settings):
    model = SimulatedModel()
    return Request(
        envs=envs, variants=variants, backend=model.backend, model=model.name, options=model.options, **settings
    )


def baseline(variant="sb3-ppo", env="cartpole", **settings) -> BaselineRun:
    (run,) = plan(request(variant, envs=(env,), **{"runs": 1, "iterations": 3, "rollouts": 2} | settings))
    assert isinstance(run, BaselineRun)
    return run


class Pretended:
    """Yields the same evaluations for the same run, as a training does; may stop early, or come out otherwise."""

    def __init__(self, *, dies_after=None, differs_at=None):
        self.dies_after, self.differs_at = dies_after, differs_at
        self.trained = 0

    async def __call__(self, run):
        for iteration in range(run.iterations):
            if iteration == self.dies_after:
                raise CollectorError("died")
            seeds = seeding.seeds(run.seed, run.rollouts, *run.purpose, iteration, "initial")
            lengths = [seed % 50 + 1 + (iteration == self.differs_at) for seed in seeds]
            self.trained += 1
            yield Evaluation(seeds, [float(length) for length in lengths], lengths, ["terminated"] * len(seeds)), 0.5


def record(run, out, train=None, report=lambda progress: None):
    async def complete():
        with RunFolder(out / run.folder) as folder:
            await run_baseline(run, folder, report, train or Pretended())

    asyncio.run(complete())
    return out / run.folder
