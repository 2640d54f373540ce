"""How far can two sets of rollouts of one and the same policy differ by chance?

Two answers. The permutation test pools both sets: it asks how often a random split of what was observed would give so
low a difference. The other takes the first set alone for the policy's distribution, and runs it twice. Where both sets
are scores of the same examples, the test flips the signs of their differences instead.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

SPLITS: Final = 5_000
"""Splits that are drawn where there are more than that."""
_SEED: Final = 20260121
_TIE: Final = 1e-12
"""Differences this small, relative to the size of the returns, are rounding errors."""
_AT_ONCE: Final = 800_000
"""Multiplications at once: results stay in a core's cache, and BLAS starts no threads that wait for one another."""
_WHOLE: Final = 2**24
"""Below it single precision has every whole number."""


class NoChange(NamedTuple):
    """What no change would have done; arrays of shape (pairs,).

    Attributes:
        p: chance of a difference as low as the observed one or lower, among splits of the pooled returns, or signs of
            paired differences.
        pooled: chance of a negative difference among those splits or signs.
        initial: chance of a negative difference between two sets drawn from the first set's returns; NaN where they are
            paired: how much the same examples vary when they are scored again is not known.
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
    before, after = _sets(first, second)
    rollouts = before.shape[1]
    splits, exact = _splits(rollouts)

    def chances(before: Floats, after: Floats, splits: Floats, draws: Floats) -> Sequence[Floats]:
        pooled = np.concatenate([before, after], axis=1)
        rounding = _TIE * np.abs(pooled).sum(axis=1, keepdims=True)
        observed = after.sum(axis=1, keepdims=True) - before.sum(axis=1, keepdims=True)
        # A split's difference is that of its two halves' sums.
        tested = _as_low(pooled @ splits, observed, rounding, exact=exact)
        return *tested, _below_zero(before @ draws, rounding)

    return _in_steps(chances, before, after, splits, _draws(rollouts))


def no_change_paired(first: ArrayLike, second: ArrayLike) -> NoChange:
    """Test pairs of sets of scores of the same examples for no change.

    Without a change each example's two scores could as well be exchanged, which flips the sign of their difference (R.
    A. Fisher, "The Design of Experiments", 1935, section 21). All signs are counted for up to 13 examples; beyond, they
    are drawn as splits are.

    Args:
        first: shape (pairs, K), the scores before.
        second: shape (pairs, K), the scores after, in the same order of examples.

    Raises:
        ValueError: shapes differ, or a score is not finite.
    """
    before, after = _sets(first, second)
    signs, exact = _signs(before.shape[1])

    def chances(before: Floats, after: Floats, signs: Floats) -> Sequence[Floats]:
        differences = after - before
        rounding = _TIE * (np.abs(before) + np.abs(after)).sum(axis=1, keepdims=True)
        tested = _as_low(differences @ signs, differences.sum(axis=1, keepdims=True), rounding, exact=exact)
        return *tested, np.full(len(before), math.nan)

    return _in_steps(chances, before, after, signs)


def _sets(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    before, after = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if before.ndim != 2 or before.shape != after.shape or not before.shape[1]:
        raise ValueError(f"expected two arrays of shape (pairs, K), got {before.shape} and {after.shape}")
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        raise ValueError("a return is not a finite number")
    return before, after


def _in_steps(chances: Callable[..., Sequence[Floats]], before: Floats, after: Floats, *matrices: Floats) -> NoChange:
    """The chances of all pairs, of few at once.

    Whole numbers are taken in single precision, in half the time: sums of theirs are exact in either, and all that is
    counted is which of them are larger.

    Args:
        chances: of some pairs, called with the matrices in the precision of these.
        before: shape (pairs, K).
        after: likewise.
        matrices: what pairs are multiplied with; the entries of a column have a sum of at most 2K.
    """
    found = np.empty((3, len(before)))
    both = np.concatenate([before, after], axis=1)
    is_whole = (both == np.rint(both)).all(axis=1) & (np.abs(both).max(axis=1) < _WHOLE / both.shape[1])
    step = max(1, _AT_ONCE // matrices[0].size)
    for rows, kind in ((is_whole, np.float32), (~is_whole, np.float64)):
        places = np.flatnonzero(rows)
        converted = [matrix.astype(kind, copy=False) for matrix in matrices] if len(places) else []
        for start in range(0, len(places), step):
            some = places[start : start + step]
            found[:, some] = chances(before[some].astype(kind), after[some].astype(kind), *converted)
    return NoChange(*found)


def _as_low(differences: Floats, observed: Floats, rounding: Floats, *, exact: bool) -> tuple[Floats, Floats]:
    """Chances of a difference as low as the observed one, and of one below zero; shapes (pairs,).

    Each difference, shape (pairs, splits), counts for its opposite as well: the same split the other way round.
    """
    limit = observed + rounding
    as_low = np.count_nonzero(differences <= limit, axis=1) + np.count_nonzero(differences >= -limit, axis=1)
    number = 2 * differences.shape[1]
    p = as_low / number if exact else (as_low + 1) / (number + 1)
    return p, _below_zero(differences, rounding)


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
def _signs(examples: int) -> tuple[Floats, bool]:
    """Signs of K differences, as columns, each once up to its opposite; and whether they are all."""
    if 2 ** (examples - 1) <= SPLITS:
        # The first sign is always the same: the others are relative to it.
        return np.array([(1.0, *rest) for rest in product((1.0, -1.0), repeat=examples - 1)]).T, True
    rng = np.random.default_rng(_SEED)
    return rng.choice([-1.0, 1.0], size=(examples, SPLITS // 2)), False


@functools.cache
def _draws(rollouts: int) -> Floats:
    """How often each return is drawn for a second set, less how often for a first: shape (K, draws)."""
    rng = np.random.default_rng(_SEED + 1)
    chances = np.full(rollouts, 1 / rollouts)
    first, second = rng.multinomial(rollouts, chances, size=(2, SPLITS // 2))
    return np.ascontiguousarray((second - first).T.astype(float))
