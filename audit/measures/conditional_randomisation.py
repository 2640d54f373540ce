"""Does an attribute that was assigned at random matter? The conditional randomisation test of conjoint experiments.

D. W. Ham, K. Imai and L. Janson, "Using machine learning to test causal hypotheses in conjoint analysis" (Political
Analysis 32, 2024). Answers are held fixed, and only the experiment's own draws are repeated: the test is exact however
answers depend on each other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from audit.measures.stratified_permutation import REDRAWS, Alternative, Floats, Permuted, Seed, permutation_p, redrawn


class ConditionalRandomisation(NamedTuple):
    """The effect of an attribute on what an answer follows.

    Attributes:
        effect: mean over calls of the score of the block that has the attribute, less the mean of the others: the
            average marginal component effect.
        p: of the hypothesis that answers do not depend on which block has it.
        calls: that have at least two eligible blocks.
        effects: shape (calls,), each call's contribution to `effect`, for its interval; NaN for calls that do not
            count.
    """

    effect: float
    p: float
    calls: int
    effects: Floats


def conditional_randomisation_test(
    scores: ArrayLike,
    holder: ArrayLike,
    *,
    eligible: ArrayLike | None = None,
    alternative: Alternative = "two-sided",
    redraws: int = REDRAWS,
    seed: Seed = 0,
) -> ConditionalRandomisation:
    """Test whether answers depend on which block of evidence has an attribute, such as the label "worst".

    For answers that follow one of three blocks the effect is 3/2 (P - 1/3), P the share that follow the one with the
    attribute. The statistic of the test is the sum of the scores of such blocks about its expectation.

    Args:
        scores: shape (calls, blocks), whether, or how far, an answer follows each block.
        holder: shape (calls,), the index of the block that has the attribute; drawn uniformly, for each call by itself.
        eligible: shape (calls, blocks), the blocks among which it was drawn; all without.
        alternative: "greater" asks whether answers follow the block that has it.
        redraws: how often the attribute is assigned anew.
        seed: of the redraws.

    Returns:
        NaN for effect and p where no call counts.

    Raises:
        ValueError: shapes do not match, a score is not finite, or an attribute's block is not eligible.
    """
    table, held = np.asarray(scores, dtype=float), np.asarray(holder, dtype=np.intp)
    if table.ndim != 2 or held.shape != table.shape[:1]:
        raise ValueError(
            f"expected scores of shape (calls, blocks) and a holder a call, got {table.shape}, {held.shape}"
        )
    able = np.ones(table.shape, dtype=bool) if eligible is None else np.asarray(eligible, dtype=bool)
    if able.shape != table.shape:
        raise ValueError(f"expected eligible blocks of shape {table.shape}, got {able.shape}")
    if not np.isfinite(table).all():
        raise ValueError("a score is not a finite number")
    calls = np.arange(len(table))
    if len(table) and not (np.all((held >= 0) & (held < table.shape[1])) and able[calls, held].all()):
        raise ValueError("an attribute's block is not among the eligible ones")
    choices = able.sum(axis=1)
    counted = choices > 1
    effects = np.full(len(table), math.nan)
    if not counted.any():
        return ConditionalRandomisation(math.nan, math.nan, 0, effects)
    table, able, held, choices = table[counted], able[counted], held[counted], choices[counted]
    centred = table - (table * able).sum(axis=1, keepdims=True) / choices[:, None]
    rows = np.arange(len(table))
    parts = centred[rows, held]
    # What is above the mean of all k blocks is (k - 1) / k of what is above the mean of the others.
    effects[counted] = parts * choices / (choices - 1)
    # Eligible blocks come first, so that one number below k draws one of them.
    ordered = np.take_along_axis(centred, np.argsort(~able, axis=1, kind="stable"), axis=1)
    rng = np.random.default_rng(seed)
    high = int(choices[0]) if np.all(choices == choices[0]) else choices
    totals = redrawn(
        redraws, len(rows), lambda size: ordered[rows, rng.integers(high, size=(size, len(rows)))].sum(axis=1)
    )
    p = permutation_p(Permuted(parts, totals, exact=False), size=float(np.abs(table).sum()), alternative=alternative)
    return ConditionalRandomisation(float(effects[counted].mean()), p, int(counted.sum()), effects)
