"""Training with Stable-Baselines3. Importing this module imports PyTorch, which takes seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.noise import NormalActionNoise, OrnsteinUhlenbeckActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from collector import seeding
from collector.baselines.environments import make_environment
from collector.baselines.evaluation import evaluate
from collector.baselines.hyperparameters import Noise, Preset, preset
from collector.baselines.planning import BaselineRun
from collector.rollouts.evaluate import Evaluation

Report = Callable[[Evaluation, float], None]
"""Called for every finished iteration with its evaluation and the seconds that it took."""

_NOISES: Final = {"normal": NormalActionNoise, "ornstein-uhlenbeck": OrnsteinUhlenbeckActionNoise}
_ENDLESS: Final = 2**62
"""More steps than any run takes: the budget of episodes ends training."""


def learn(run: BaselineRun, report: Report) -> None:
    """Train for as many episodes as the run has iterations, and evaluate the policy after each.

    Args:
        run: what to train.
        report: called for every finished iteration.
    """
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    settings = preset(run.method.id, run.task.id)
    finished = 0
    started = time.monotonic()
    vector = _vectorised(run, settings)
    environments = [make_environment(run.task) for _ in range(run.rollouts)]
    model = _model(run, settings, vector, remaining=lambda: 1.0 - finished / run.iterations)

    def act(observations: NDArray[Any]) -> NDArray[Any]:
        scaled = vector.normalize_obs(observations) if settings.normalize else observations
        actions, _ = model.predict(scaled, deterministic=True)
        return np.asarray(actions)

    def after_step(local: dict[str, Any], _: dict[str, Any]) -> bool:
        nonlocal finished, started
        if not local["dones"][0]:
            return True
        seeds = seeding.seeds(run.seed, run.rollouts, *run.purpose, finished, "initial")
        evaluation = evaluate(environments, seeds, act)
        finished += 1
        report(evaluation, time.monotonic() - started)
        started = time.monotonic()
        return finished < run.iterations

    model.learn(_ENDLESS, callback=after_step, log_interval=None)


def _vectorised(run: BaselineRun, settings: Preset) -> Any:
    """The environment that is trained in: one, as episodes are counted one by one."""
    vector = DummyVecEnv([lambda: make_environment(run.task)])
    if not settings.normalize:
        return vector
    # Returns are discounted as the algorithm discounts them, or both by default.
    discount = {name: value for name, value in settings.hyperparameters.items() if name == "gamma"}
    return VecNormalize(vector, **discount)


def _model(run: BaselineRun, settings: Preset, vector: Any, *, remaining: Callable[[], float]) -> Any:
    """The untrained algorithm.

    Args:
        run: what to train.
        settings: its hyperparameters.
        vector: the environment.
        remaining: the share of the run's iterations that are still to come. Stable-Baselines3 knows a share of steps,
            but here it is episodes that are rationed.
    """
    hyperparameters = _with_schedules(settings.hyperparameters, remaining)
    if settings.noise is not None:
        hyperparameters["action_noise"] = _noise(settings.noise, vector.action_space.shape)
    algorithm: Any = getattr(import_module(run.baseline.package), run.baseline.algorithm)
    (seed,) = seeding.seeds(run.seed, 1, *run.purpose, "training")
    model = algorithm("MlpPolicy", vector, seed=seed, device="cpu", **hyperparameters)
    if run.baseline.algorithm == "DQN":
        by_share = model.exploration_schedule
        model.exploration_schedule = lambda _: by_share(remaining())
    return model


def _with_schedules(hyperparameters: Mapping[str, Any], remaining: Callable[[], float]) -> dict[str, Any]:
    """The hyperparameters with functions in place of `linear x`."""

    def falling(start: float) -> Callable[[float], float]:
        return lambda _: start * remaining()

    ready = dict(hyperparameters)
    for name in ("learning_rate", "clip_range"):
        kind, _, start = str(ready.get(name, "")).partition(" ")
        if kind == "linear":
            ready[name] = falling(float(start))
    # The algorithms write into these.
    if "policy_kwargs" in ready:
        ready["policy_kwargs"] = dict(ready["policy_kwargs"])
    return ready


def _noise(noise: Noise, shape: tuple[int, ...]) -> Any:
    return _NOISES[noise.kind](np.zeros(shape), np.full(shape, noise.std))
