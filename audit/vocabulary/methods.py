"""The names of methods that records may carry in `variant`."""

from __future__ import annotations

from typing import Final

LLM_METHODS: Final = frozenset(
    {
        "props",
        "propsplus",
        "criticonly",
        "puresearch",
        "actorsecondpass",
        "alwayscritic",
        "reptraj",
        "threetraj",
        "r2po",
    }
)
BASELINES: Final = frozenset({"sb3-a2c", "sb3-ppo", "sb3-trpo", "sb3-dqn", "sb3-sac", "sb3-td3", "sb3-ddpg"})
METHODS: Final = LLM_METHODS | BASELINES
