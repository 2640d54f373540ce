"""Holm's correction of p-values, within families of tests.

S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust the p-values of one family.

    Args:
        p_values: shape (tests,). NaN marks a test that could not be done: it stays NaN and is no member of the
            family, so that the others are corrected for the tests that were done (`np.isfinite(p).sum()` of them).

    Returns:
        Shape (tests,): the k-th smallest of m p-values times m - k + 1, made monotone, at most 1.

    Raises:
        ValueError: a p-value lies outside [0, 1].
    """
    p = np.asarray(p_values, dtype=float)
    done = ~np.isnan(p)
    if np.any((p[done] < 0) | (p[done] > 1)):
        raise ValueError("a p-value lies outside [0, 1]")
    adjusted = np.full(p.shape, np.nan)
    if done.any():
        known = p[done]
        order = np.argsort(known)
        steps = np.maximum.accumulate(known[order] * np.arange(known.size, 0, -1))
        known[order] = np.minimum(steps, 1)
        adjusted[done] = known
    return adjusted


def holm_within(p_values: ArrayLike, families: Sequence[Hashable]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Adjust each family of p-values for itself.

    Args:
        p_values: shape (tests,); NaN as in `holm`.
        families: length tests; equal entries belong to one family.

    Returns:
        Adjusted p-values and the size of each test's family, NaN not counted; both of shape (tests,).

    Raises:
        ValueError: the two lengths differ, or a p-value lies outside [0, 1].
    """
    p = np.asarray(p_values, dtype=float)
    if p.shape != (len(families),):
        raise ValueError(f"{len(families)} families for p-values of shape {p.shape}")
    adjusted = np.full(p.shape, np.nan)
    sizes = np.zeros(p.shape, dtype=np.int64)
    for family in dict.fromkeys(families):
        members = np.array([other == family for other in families])
        adjusted[members] = holm(p[members])
        sizes[members] = np.count_nonzero(~np.isnan(p[members]))
    return adjusted, sizes
