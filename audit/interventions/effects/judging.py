"""Which effects there are, given how many were looked for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from audit.interventions.effects.results import (
    AWAY,
    CANNOT_TELL,
    DOES_NOT,
    FOUND,
    MOVES,
    NOT_BEYOND_PLACEBO,
    NOT_FOUND,
    NOT_TESTED,
    Effect,
    Verdict,
)
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


def moves(p: float, away_p: float, ends: tuple[float, float], alpha: float) -> Verdict:
    """Whether a share moves a critic, or moves it away; else it cannot be told.

    Args:
        p: corrected, of the hypothesis that the share is at most zero.
        away_p: corrected and two-sided, of the hypothesis that it is zero.
        ends: of its interval.
        alpha: level of the family.
    """
    low, high = ends
    return MOVES if p <= alpha and low > 0 else AWAY if away_p <= alpha and high < 0 else CANNOT_TELL


def unmoved(ends: tuple[float, float], narrow: tuple[float, float], margin: float) -> Verdict:
    """Whether a share that was not found to move a critic does not move it; what lies below zero never does not.

    Args:
        ends: of its interval.
        narrow: ends of the interval of two one-sided tests.
        margin: the smallest share of interest.
    """
    return DOES_NOT if ends[1] >= 0 and -margin < narrow[0] and narrow[1] < margin else CANNOT_TELL


def away_p(p: NDArray[np.float64], tests: int) -> NDArray[np.float64]:
    """From p of the hypotheses that shares are at most zero that they are zero, two-sided, by Bonferroni's method.

    Args:
        p: one-sided.
        tests: how many shares are tested.
    """
    return np.asarray(np.minimum(1.0, 2 * (1 - p) * tests))


def _with_verdicts(effects: Sequence[Effect], adjusted: Sequence[float], alpha: float) -> list[Effect]:
    return [
        effect._replace(p_adjusted=p, verdict=verdict(p, effect.beyond_placebo_p, alpha))
        for effect, p in zip(effects, adjusted, strict=True)
    ]
