"""The rule that chooses τ_c, the mean return at which the critic is asked for restraint, from a run's own record."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from collector.records import TauRule, WarmupTrial

AUTOMATIC: Final = "auto"
"""The setting that leaves τ_c to the rule."""
SHARE: Final = 0.5
RULE: Final = TauRule(id="progress", options={"share": SHARE})
"""What `run.json` records of the rule."""
DIGITS: Final = 4
"""Significant digits of a threshold that the rule chooses."""


def progress(warmup: Sequence[WarmupTrial], optimum: float) -> float | None:
    """Half way from the median return of random policies to the optimum, as the prompt states it.

    Args:
        warmup: the random trials that opened the run, at least one.
        optimum: the return that prompts name as about the best.

    Returns:
        None where random policies get as much, so that no plateau at the floor calls for restraint.
    """
    start = median(trial.return_ for trial in warmup)
    value = float(format(start + SHARE * (optimum - start), f".{DIGITS}g"))
    return value if value > start else None
