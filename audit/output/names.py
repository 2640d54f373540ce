"""What tasks and methods are called in tables, figures and pages; a name that is not listed here is shown as it is.

`audit.vocabulary.names` has them with those of patterns and structures. They are here because tables print them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from audit.output.escaping import in_line
from collector.system import naming

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

_METHODS: Final[Mapping[str, tuple[str, str]]] = {
    "r2po": ("R2PO", "#0072B2"),
    "threetraj": ("ThreeTraj", "#D55E00"),
    "reptraj": ("RepTraj", "#009E73"),
    "alwayscritic": ("AlwaysCritic", "#CC79A7"),
    "actorsecondpass": ("ActorSecondPass", "#E69F00"),
    "puresearch": ("PureSearch", "#56B4E9"),
    "criticonly": ("CriticOnly", "#8A7F00"),
    "propsplus": ("ProPS+", "#000000"),
    "props": ("ProPS", "#7A7A7A"),
    "sb3-best": ("best SB3", "#882255"),
    "sb3-a2c": ("A2C", "#E69F00"),
    "sb3-ppo": ("PPO", "#56B4E9"),
    "sb3-trpo": ("TRPO", "#000000"),
    "sb3-dqn": ("DQN", "#009E73"),
    "sb3-sac": ("SAC", "#D55E00"),
    "sb3-td3": ("TD3", "#CC79A7"),
    "sb3-ddpg": ("DDPG", "#7A7A7A"),
}
METHODS: Final[Mapping[str, str]] = {method: name for method, (name, _) in _METHODS.items()}
METHOD_COLOURS: Final[Mapping[str, str]] = {method: colour for method, (_, colour) in _METHODS.items()}
"""Okabe and Ito's, which most colour-blind readers can distinguish, with an olive for their yellow, which fades on
white, and a grey."""

NAMED: Final[Mapping[str, Mapping[str, str]]] = {
    "env": TASKS,
    "variant": METHODS,
    "reference": METHODS,
    "baseline": METHODS,
}
"""The columns that hold tasks or methods, with what these are called."""
_CALLED: Final = {**TASKS, **METHODS}


def meant(given: str, held: Iterable[str], names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The one of some ids that a name stands for, which may be what tables call it, in any case and with any blanks.

    Args:
        given: as a user typed it.
        held: the ids there are.
        names: what they are called, where that is neither a task's name nor a method's.
    """
    known = list(held)
    return naming.meant(given, known, {each: names.get(each) or _CALLED.get(each) or in_line(each) for each in known})


def model_name(model: str | None, backend: str | None) -> str:
    """A model with its backend in brackets, unless its name begins with that; empty where neither is known."""
    if not model or not backend or model.startswith(backend):
        return model or backend or ""
    return f"{model} ({backend})"
