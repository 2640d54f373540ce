"""A finished experiment on prompts of the small data set, made by hand: each verdict, and effects without intervals."""

from __future__ import annotations

import math
from typing import Any

from audit.interventions.report import COLUMNS

PLAN = "f" * 64
BY = {"plan_sha256": PLAN, "backend": "simulated", "model": "simulated-label"}
FOUND, LIKE_PLACEBO, NOT_FOUND = "found", "not beyond placebo", "not found"


def effect(name: str, outcome: str, arm: str, control: str | None, *numbers: float, **more: Any) -> dict[str, Any]:
    """A row of `intervention_effects`; numbers are the estimate, the ends of its interval, p and the corrected p."""
    known = dict(zip(("estimate", "low", "high", "p", "p_adjusted"), numbers, strict=False))
    row = dict.fromkeys(COLUMNS) | {"name": name, "outcome": outcome, "arm": arm, "control": control}
    defaults = {"primary": False, "planned": True, "units": 6, "runs": 2, "answers": 48, "verdict": NOT_FOUND}
    return {**BY, **row, **defaults, **known, **more, "sentence": f"{name} on {outcome}."}


EFFECTS = [
    effect("label", "edits", "XL", "N0h", 0.4, 0.2, 0.6, 0.0002, 0.0008, primary=True, verdict=FOUND),
    effect("position", "edits", "XP", "N0", 0.15, -0.02, 0.3, 0.01, 0.02, primary=True, verdict=LIKE_PLACEBO),
    effect("number", "text", "C", None, 0.05, math.nan, math.nan, 1.0, 1.0, primary=True),
    effect("presence", "edits", "RW", "RM", 0.3, 0.1, 0.5, 0.001, 0.003, primary=True, verdict=FOUND),
    effect("wording", "edits", "P1", "N0", 0.1, -0.05, 0.25, 0.11, 0.15),
    effect("other rollouts", "edits", "P2", "N0", verdict="not tested"),
    effect("following the worst", "text", "XL", "N0h", -0.6, -0.8, -0.4, 0.0002, 0.0007, verdict=FOUND),
    effect("the word worst", "text", "XL", "N0h", 0.0, -0.1, 0.1, 0.9, 0.9),
    effect("label", "text", "C", None, 0.5, 0.3, 0.7, 0.0002, 0.0007, verdict=FOUND),
    effect("label", "text, numbers hidden", "C", None, 0.55, 0.2, 0.9, 0.0002, 0.0007, verdict=FOUND),
    effect("position", "text", "C", None, -0.1, -0.3, 0.1, 0.08, 0.13),
    effect("seeing the worst", "size", "N0", "RW", 0.3, -0.3, 0.9, 0.3, 1.0),
    effect("seeing the worst", "harmful", "N0", "RW", 0.08, 0.04, 0.12, 0.02, 0.04, verdict=FOUND),
    effect("seeing the worst", "gain", "N0", "RW", -50.0, -90.0, -10.0, 0.01, 0.03, env="cartpole", verdict=FOUND),
    effect("seeing the worst", "gain", "N0", "RW", 0.02, -0.1, 0.14, 0.7, 1.0, env="frozenlake"),
    effect("seeing the worst", "gain", "RM", "RW", -9.0, -30.0, 12.0, 0.5, 1.0, env="cartpole"),
]


def units(condition: str) -> list[dict[str, Any]]:
    """The rows of `intervention_units` that figures read: six prompts of two runs."""
    key = {"condition": condition, "env": "cartpole", "variant": "threetraj"}
    return [{**BY, **key, "run": 1 + i % 2, "iteration": i, "answered": 48} for i in range(6)]
