"""The settings of each baseline on each task, and their sources: `hyperparameters.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

import msgspec

OTHER: Final = "other"
"""The table's name for every task that is not the project's own."""


class Noise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Noise added to the actions of a deterministic policy while it trains.

    Attributes:
        kind: independent from step to step, or correlated.
        std: its standard deviation, in units of the action rescaled to [-1, 1].
    """

    kind: Literal["normal", "ornstein-uhlenbeck"]
    std: float


class Preset(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The settings of one algorithm on one task.

    Attributes:
        origin: who chose them.
        entry: the entry of RL Baselines3 Zoo that they are from.
        normalize: observations and rewards are rescaled by their running statistics while training.
        noise: exploration noise.
        hyperparameters: arguments of the algorithm's class that are not left at their defaults; `linear x` is a value
            that falls from x to 0 over the run.
        replaced: what the entry has, where it could not be taken over unchanged.
    """

    origin: Literal["rl-zoo", "library defaults"]
    entry: str | None = None
    normalize: bool = False
    noise: Noise | None = None
    hyperparameters: dict[str, Any] = {}
    replaced: dict[str, Any] = {}


@cache
def presets() -> dict[str, dict[str, Preset]]:
    """The whole table: settings by method and task."""
    text = files("collector.baselines").joinpath("hyperparameters.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, dict[str, Preset]])


def preset(method_id: str, task_id: str) -> Preset:
    """The settings of one algorithm on one task; the two must fit each other."""
    tasks = presets()[method_id]
    return tasks.get(task_id, tasks[OTHER])
