"""Correlation of two measures that are both noisy, each known from two halves of its replicates."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from audit.measures.stratified_permutation import REDRAWS, Floats, Permuted, Seed, permutation_p, redrawn


class SplitHalf(NamedTuple):
    """A correlation over units, and what it would be without noise.

    Attributes:
        correlation: Pearson's, of the means of both halves.
        p: of the hypothesis that the measures do not go together, by permuting the units of one; two-sided.
        first_reliability: of the first measure's mean of two halves, by Spearman and Brown's formula.
        second_reliability: likewise of the second.
        disattenuated: the correlation over the root of both reliabilities. Not limited to 1, as it is an estimate
            itself; NaN where a reliability is not positive.
        units: that have all four values.
    """

    correlation: float
    p: float
    first_reliability: float
    second_reliability: float
    disattenuated: float
    units: int


def split_half_correlation(first: ArrayLike, second: ArrayLike, *, redraws: int = REDRAWS, seed: Seed = 0) -> SplitHalf:
    """Correlate two measures over units, and correct the correlation for the noise of both.

    C. Spearman, "The proof and measurement of association between two things" (American Journal of Psychology 15,
    1904), with the reliability 2 r / (1 + r), r the correlation of the halves (Spearman and Brown, 1910).

    Args:
        first: shape (units, 2), one measure from either half of a unit's replicates, such as the share of answers
            that cite the worst rollout. Units with NaN are left out.
        second: shape (units, 2), the other measure, such as the effect of its removal, from other replicates.
        redraws: how often the units of one measure are permuted.
        seed: of the redraws.

    Returns:
        NaN where there are fewer than three units, or a measure does not vary.

    Raises:
        ValueError: a shape is another, or a value is infinite.
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if x.ndim != 2 or x.shape[1] != 2 or x.shape != y.shape:
        raise ValueError(f"expected two tables of shape (units, 2), got {x.shape} and {y.shape}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("a value is infinite")
    known = ~np.isnan(np.hstack([x, y])).any(axis=1)
    x, y = x[known], y[known]
    one, other = _standard(x.mean(axis=1)), _standard(y.mean(axis=1))
    correlation = float(one @ other) if len(x) > 2 else math.nan
    if math.isnan(correlation):
        return SplitHalf(math.nan, math.nan, math.nan, math.nan, math.nan, len(x))
    first_reliability, second_reliability = _reliability(x), _reliability(y)
    both = min(first_reliability, second_reliability) > 0
    noise = math.sqrt(first_reliability * second_reliability) if both else math.nan
    rng = np.random.default_rng(seed)
    totals = redrawn(redraws, len(x), lambda size: rng.permuted(np.tile(other, (size, 1)), axis=1) @ one)
    p = permutation_p(Permuted(one * other, totals, exact=False), size=1.0)
    return SplitHalf(correlation, p, first_reliability, second_reliability, correlation / noise, len(x))


def _reliability(halves: Floats) -> float:
    r = float(_standard(halves[:, 0]) @ _standard(halves[:, 1]))
    return 2 * r / (1 + r) if r > -1 else math.nan


def _standard(values: Floats) -> Floats:
    """Values less their mean, of length 1; NaN where they do not vary."""
    centred = values - values.mean() if values.size else values
    length = float(np.linalg.norm(centred))
    return centred / (length if length > 1e-12 * float(np.abs(values).sum()) else math.nan)
