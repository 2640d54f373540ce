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
BASELINES: Final = frozenset({"a2c", "ppo", "trpo", "dqn", "sac", "td3", "ddpg"})
METHODS: Final = LLM_METHODS | BASELINES
