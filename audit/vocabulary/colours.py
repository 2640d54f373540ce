"""The colours of methods, directions and structures in figures and on the viewer's pages.

Those of methods are Okabe and Ito's, which most colour-blind readers can distinguish, with an olive for their yellow,
which fades on white, and a grey. Those of edit patterns are with their rules in `audit.vocabulary.patterns`.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final

_METHODS: Final[Mapping[str, str]] = {
    "r2po": "#0072B2",
    "threetraj": "#D55E00",
    "reptraj": "#009E73",
    "alwayscritic": "#CC79A7",
    "actorsecondpass": "#E69F00",
    "puresearch": "#56B4E9",
    "criticonly": "#8A7F00",
    "propsplus": "#000000",
    "props": "#7A7A7A",
    "sb3-best": "#882255",
    "sb3-a2c": "#E69F00",
    "sb3-ppo": "#56B4E9",
    "sb3-trpo": "#000000",
    "sb3-dqn": "#009E73",
    "sb3-sac": "#D55E00",
    "sb3-td3": "#CC79A7",
    "sb3-ddpg": "#7A7A7A",
}

DIRECTION_COLOURS: Final[Mapping[str, str]] = {
    "regression": "#C74A02",
    "improvement": "#1764AB",
    "no_change": "#6E6E6E",
}
STRUCTURE_COLOURS: Final[Mapping[str, str]] = {
    "failure_confirmed": "#A33E00",
    "all_diverse": "#F2A93B",
    "preservation_favored": "#2C78B5",
    "identical": "#9A9A9A",
}
STRICT: Final = "#B03A00"
PERMISSIVE: Final = "#F3B58A"


def method_colour(method: str) -> str:
    """Colour of a method; one that is not known gets a fixed one of its own, from its name."""
    if method in _METHODS:
        return _METHODS[method]
    colours = sorted(set(_METHODS.values()))
    return colours[zlib.crc32(method.encode()) % len(colours)]
