"""How far can two sets of rollouts of one and the same policy differ by chance?

Two answers. The permutation test pools both sets: it asks how often a random split of what was observed would give so
low a difference. The other takes the first set alone for the policy's distribution, and runs it twice.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

SPLITS: Final = 5_000
"""Splits that are drawn where there are more than that."""
_SEED: Final = 20260121
_TIE: Final = 1e-12
"""Differences this small, relative to the size of the returns, are rounding errors."""
_AT_ONCE: Final = 4_000_000
"""Differences that are computed at once: 32 MB."""


class NoChange(NamedTuple):
    """What no change would have done; arrays of shape (pairs,).

    Attributes:
        p: chance of a difference as low as the observed one or lower, among splits of the pooled returns.
        pooled: chance of a negative difference among those splits.
        initial: chance of a negative difference between two sets drawn from the first set's returns.
    """

    p: Floats
    pooled: Floats
    initial: Floats


def no_change(first: ArrayLike, second: ArrayLike) -> NoChange:
    """Test pairs of equally long sets of returns for no change.

    All splits are counted where there are no more than `SPLITS`, that is for sets of up to seven; p-values are then
    exact. Otherwise as many are drawn, the same ones for all pairs, the observed split counting as one more (Phipson
    and Smyth, Statistical Applications in Genetics and Molecular Biology 9, 2010). Each split is used both ways round,
    so that chances below and above zero are equal. Ties count as no difference.

    Args:
        first: shape (pairs, K), the returns before.
        second: shape (pairs, K), the returns after.

    Raises:
        ValueError: shapes differ, or a return is not finite.
    """
    before, after = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if before.ndim != 2 or before.shape != after.shape or not before.shape[1]:
        raise ValueError(f"expected two arrays of shape (pairs, K), got {before.shape} and {after.shape}")
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        raise ValueError("a return is not a finite number")
    rollouts = before.shape[1]
    splits, exact = _splits(rollouts)
    draws = _draws(rollouts)
    step = max(1, _AT_ONCE // splits.shape[1])
    parts = [
        _chances(before[start : start + step], after[start : start + step], splits, draws, exact=exact)
        for start in range(0, len(before), step)
    ]
    return NoChange(*(np.concatenate([part[place] for part in parts]) for place in range(3))) if parts else _NONE


_NONE: Final = NoChange(np.empty(0), np.empty(0), np.empty(0))


def _chances(before: Floats, after: Floats, splits: Floats, draws: Floats, *, exact: bool) -> Sequence[Floats]:
    pooled = np.concatenate([before, after], axis=1)
    rounding = _TIE * np.abs(pooled).sum(axis=1, keepdims=True)
    observed = after.sum(axis=1, keepdims=True) - before.sum(axis=1, keepdims=True)
    # A split's difference is that of its two halves' sums; the same split the other way round has the opposite sign.
    differences = pooled @ splits
    limit = observed + rounding
    as_low = np.count_nonzero(differences <= limit, axis=1) + np.count_nonzero(differences >= -limit, axis=1)
    number = 2 * splits.shape[1]
    p = as_low / number if exact else (as_low + 1) / (number + 1)
    return p, _below_zero(differences, rounding), _below_zero(before @ draws, rounding)


def _below_zero(differences: Floats, rounding: Floats) -> Floats:
    """The share of differences below zero, each counting for its opposite as well; shape (pairs,)."""
    ties: Floats = np.count_nonzero(np.abs(differences) <= rounding, axis=1) / differences.shape[1]
    return (1 - ties) / 2


@functools.cache
def _splits(rollouts: int) -> tuple[Floats, bool]:
    """Splits of 2K returns into halves, as columns of +1 and -1, each once up to its sign; and whether they are all."""
    size = 2 * rollouts
    if math.comb(size, rollouts) <= SPLITS:
        # The first return is always in the first half: the others follow from the sign.
        halves = [(0, *rest) for rest in combinations(range(1, size), rollouts - 1)]
        signs = np.full((size, len(halves)), -1.0)
        for column, half in enumerate(halves):
            signs[list(half), column] = 1
        return signs, True
    rng = np.random.default_rng(_SEED)
    template = np.repeat([1.0, -1.0], rollouts)
    return np.ascontiguousarray(rng.permuted(np.tile(template, (SPLITS // 2, 1)), axis=1).T), False


@functools.cache
def _draws(rollouts: int) -> Floats:
    """How often each return is drawn for a second set, less how often for a first: shape (K, draws)."""
    rng = np.random.default_rng(_SEED + 1)
    chances = np.full(rollouts, 1 / rollouts)
    first, second = rng.multinomial(rollouts, chances, size=(2, SPLITS // 2))
    return np.ascontiguousarray((second - first).T.astype(float))
