"""Is the mean of paired differences zero? A randomisation test that flips signs of pairs, or of clusters of pairs."""

from __future__ import annotations

import math
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from audit.measures.stratified_permutation import (
    Alternative,
    Floats,
    Permuted,
    Seed,
    groups,
    permutation_p,
)

_COUNTED: Final = 16
"""Clusters up to which all signs are counted: 65,536 of them."""
_DRAWS: Final = 9_999


class SignFlip(NamedTuple):
    """The mean of differences, and the p-value of the hypothesis that it is zero.

    Attributes:
        mean: of the differences.
        p: NaN where there is no difference to test.
        pairs: differences that count.
        clusters: how many of them change sign on their own.
    """

    mean: float
    p: float
    pairs: int
    clusters: int


def sign_flip_test(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    draws: int = _DRAWS,
    seed: Seed = 0,
) -> SignFlip:
    """Test whether differences are as likely to be positive as negative.

    Under the hypothesis that a pair's difference is distributed symmetrically about zero, its sign may be flipped (R.
    A. Fisher, "The Design of Experiments", 1935, section 21). All signs are counted for up to 16 clusters; beyond,
    they are drawn, the observed ones counting as one more.

    Args:
        differences: shape (pairs,). NaN is left out.
        clusters: shape (pairs,), what depends on each other and changes sign together; without, each pair by itself.
        alternative: "greater" means a mean above zero.
        draws: of signs, where not all are counted.
        seed: of the draws.

    Raises:
        ValueError: lengths differ, or a difference is infinite.
    """
    values = np.asarray(differences, dtype=float)
    labels = np.arange(values.size) if clusters is None else np.asarray(clusters)
    if values.ndim != 1 or labels.shape != values.shape:
        raise ValueError(f"expected a cluster for each difference, got shapes {values.shape} and {labels.shape}")
    if np.isinf(values).any():
        raise ValueError("a difference is infinite")
    known = ~np.isnan(values)
    values, labels = values[known], labels[known]
    if not values.size:
        return SignFlip(math.nan, math.nan, 0, 0)
    sums = np.array([values[places].sum() for places in groups(labels)])
    exact = sums.size <= _COUNTED
    permuted = Permuted(sums, _signs(sums.size, draws, seed, exact=exact) @ sums, exact)
    p = permutation_p(permuted, size=float(np.abs(values).sum()), alternative=alternative)
    return SignFlip(float(values.mean()), p, values.size, sums.size)


def _signs(clusters: int, draws: int, seed: Seed, *, exact: bool) -> Floats:
    """Signs of clusters, shape (draws, clusters)."""
    if exact:
        return np.array(list(product((1.0, -1.0), repeat=clusters)))
    return np.where(np.random.default_rng(seed).integers(2, size=(draws, clusters), dtype=np.int8), 1.0, -1.0)
