"""What tasks and methods are called in tables, figures and pages; a name that is not listed here is shown as it is.

`audit.vocabulary.names` has them with those of patterns and structures. They are here because tables print them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TASKS: Final[Mapping[str, str]] = {
    "nim": "Nim",
    "pong": "Pong",
    "swimmer": "Swimmer",
    "mountaincarcontinuous": "MountainCarContinuous",
    "mountaincar": "MountainCar",
    "inverteddoublependulum": "InvertedDoublePendulum",
    "invertedpendulum": "InvertedPendulum",
    "frozenlake": "FrozenLake",
    "cartpole": "CartPole",
    "maze": "Maze",
}

METHODS: Final[Mapping[str, str]] = {
    "r2po": "R2PO",
    "threetraj": "ThreeTraj",
    "reptraj": "RepTraj",
    "alwayscritic": "AlwaysCritic",
    "actorsecondpass": "ActorSecondPass",
    "puresearch": "PureSearch",
    "criticonly": "CriticOnly",
    "propsplus": "ProPS+",
    "props": "ProPS",
    "sb3-best": "best SB3",
    "sb3-a2c": "A2C",
    "sb3-ppo": "PPO",
    "sb3-trpo": "TRPO",
    "sb3-dqn": "DQN",
    "sb3-sac": "SAC",
    "sb3-td3": "TD3",
    "sb3-ddpg": "DDPG",
}

NAMED: Final[Mapping[str, Mapping[str, str]]] = {
    "env": TASKS,
    "variant": METHODS,
    "reference": METHODS,
    "baseline": METHODS,
}
"""The columns that hold tasks or methods, with what these are called."""


def model_name(model: str | None, backend: str | None) -> str:
    """A model with its backend in brackets, unless its name begins with that; empty where neither is known."""
    if not model or not backend or model.startswith(backend):
        return model or backend or ""
    return f"{model} ({backend})"
