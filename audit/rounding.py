"""What is a difference between two scores, and what is rounding: once for SQL, sources, imports and recorders."""

from __future__ import annotations

from typing import Final

SHARE: Final = 1e-9
"""Scores are equal where they differ by no more than this share of the range of scores, or of the larger mean score."""

MACROS: Final = {
    "score_rounding": "create macro score_rounding(r0, r1, score_range) as "
    f"{SHARE!r} * coalesce(score_range[2] - score_range[1], greatest(abs(r0), abs(r1)))"
}
"""The function `score_rounding` in SQL; `r1` is null where there is no revised candidate."""


def score_rounding(r0: float, r1: float, score_range: tuple[float, float] | None = None) -> float:
    """By how much scores of a revision may differ and count as equal.

    Args:
        r0: mean score of the initial candidate.
        r1: mean score of the revised candidate.
        score_range: the lowest and the highest score that there can be, where they are known.
    """
    return SHARE * (max(abs(r0), abs(r1)) if score_range is None else score_range[1] - score_range[0])


def sign_of_change(r0: float, r1: float, score_range: tuple[float, float] | None = None) -> int:
    """1 for an improvement, -1 for a regression, 0 for no change; the arguments are those of `score_rounding`."""
    delta, rounding = r1 - r0, score_rounding(r0, r1, score_range)
    return (delta > rounding) - (delta < -rounding)
