"""What is a difference between two scores, and what is rounding: once for SQL, sources, imports and recorders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SHARE: Final = 1e-9
"""Scores are equal where they differ by no more than this share of the range of scores, or of the largest score."""

MACROS: Final = {
    # Of a list the smallest and the largest have the largest absolute value; what is null counts for nothing.
    "score_rounding": "create macro score_rounding(initial, revised, score_range) as "
    f"{SHARE!r} * coalesce(score_range[2] - score_range[1], greatest("
    "abs(initial.mean_return), abs(list_min(initial.returns)), abs(list_max(initial.returns)), "
    "abs(revised.mean_return), abs(list_min(revised.returns)), abs(list_max(revised.returns))))"
}
"""The function `score_rounding` of two candidates in SQL; the revised one is null where there is none."""


def score_rounding(scores: Iterable[float], score_range: tuple[float, float] | None = None) -> float:
    """By how much scores of a revision may differ and count as equal.

    A mean near zero of scores that cancel is no more exact than the scores are, so it is they that count.

    Args:
        scores: those of both candidates and their means, or the means alone where no others are known.
        score_range: the lowest and the highest score that there can be, where they are known.
    """
    return SHARE * (max(map(abs, scores)) if score_range is None else score_range[1] - score_range[0])


def sign_of_change(
    r0: float, r1: float, score_range: tuple[float, float] | None = None, scores: Iterable[float] = ()
) -> int:
    """1 for an improvement, -1 for a regression, 0 for no change.

    Args:
        r0: mean score of the initial candidate.
        r1: mean score of the revised candidate.
        score_range: as in `score_rounding`.
        scores: those of both candidates, where they are known.
    """
    delta, rounding = r1 - r0, score_rounding((r0, r1, *scores), score_range)
    return (delta > rounding) - (delta < -rounding)
