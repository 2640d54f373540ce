"""Which effects there are, given how many were looked for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import false_discovery_control

from audit.interventions.effects.results import FOUND, NOT_BEYOND_PLACEBO, NOT_FOUND, NOT_TESTED, Effect, Verdict
from audit.measures.holm import holm


def judged(effects: Sequence[Effect], alpha: float) -> list[Effect]:
    """Correct the p-values of a family by Holm's method, and judge its effects.

    Args:
        effects: of one family; those without a p-value are no members.
        alpha: level of the family.
    """
    return _with_verdicts(effects, holm([effect.p for effect in effects]).tolist(), alpha)


def explored(effects: Sequence[Effect], alpha: float) -> list[Effect]:
    """Correct p-values by Benjamini and Hochberg's method, and judge their effects: those planned beside a family.

    Args:
        effects: all of them.
        alpha: share of false findings among what is found, at most.
    """
    p = np.array([effect.p for effect in effects])
    adjusted = np.full(p.shape, math.nan)
    known = np.isfinite(p)
    if known.any():
        adjusted[known] = false_discovery_control(p[known])
    return _with_verdicts(effects, adjusted.tolist(), alpha)


def verdict(p: float, beyond_placebo_p: float, alpha: float) -> Verdict:
    """What follows from a test and, where there is one, from that against the placebo."""
    if math.isnan(p):
        return NOT_TESTED
    if p > alpha:
        return NOT_FOUND
    return NOT_BEYOND_PLACEBO if beyond_placebo_p > alpha else FOUND


def _with_verdicts(effects: Sequence[Effect], adjusted: Sequence[float], alpha: float) -> list[Effect]:
    return [
        effect._replace(p_adjusted=p, verdict=verdict(p, effect.beyond_placebo_p, alpha))
        for effect, p in zip(effects, adjusted, strict=True)
    ]
