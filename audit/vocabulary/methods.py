"""What methods do, for records whose `run.json` does not state it, by the name in `variant`."""

from __future__ import annotations

from typing import Final

from collector.records import MethodFacts

BASELINES: Final = "sb3-"
"""Prefixes of the names of methods whose policies are networks."""
CONTROL: Final = "puresearch"
"""The method that others are compared with: its second proposal sees no evidence."""

_BASELINE: Final = MethodFacts(commits="first", training_rollouts=1)
METHODS: Final = {
    "props": MethodFacts(first="search", commits="first"),
    "propsplus": MethodFacts(first="informed_search", commits="first"),
    "criticonly": MethodFacts(first="solo_critic", commits="first"),
    CONTROL: MethodFacts(first="search", second="repeat"),
    "actorsecondpass": MethodFacts(first="search", second="search"),
    "alwayscritic": MethodFacts(
        first="search", second="critic", evidence="representative", history="excerpts", commits="revised"
    ),
    "reptraj": MethodFacts(first="search", second="critic", evidence="representative", history="excerpts"),
    "threetraj": MethodFacts(first="search", second="critic", evidence="three"),
    "r2po": MethodFacts(first="search", second="critic", evidence="median", revision_rule=True),
    "gepa": MethodFacts(second="critic", evidence="batch"),
    "simba": MethodFacts(second="critic", evidence="pair", commits="revised"),
    "openevolve": MethodFacts(second="critic", evidence="programs", commits="revised"),
    "shinkaevolve": MethodFacts(second="critic", evidence="programs", commits="revised"),
    **{f"{BASELINES}{name}": _BASELINE for name in ("a2c", "ppo", "trpo", "dqn", "sac", "td3", "ddpg")},
}


def method_facts(variant: str) -> MethodFacts:
    """What a method of that name does; an unknown one keeps the better candidate."""
    return METHODS.get(variant, _BASELINE if variant.startswith(BASELINES) else MethodFacts())
