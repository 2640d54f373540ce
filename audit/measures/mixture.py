"""Of which reference distributions is a distribution a mixture? Weights that minimise the energy distance.

The squared energy distance of a distribution and a mixture of references is, up to what no weight changes, 2 a'w -
w'Bw, with `a` the mean distances of the distribution to the references and `B` those among references (Székely and
Rizzo, "Energy statistics: a class of statistics based on distances", Journal of Statistical Planning and Inference
143, 2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from audit.measures.stratified_permutation import Floats


class MixtureTerms(NamedTuple):
    """The terms of the objective; those of several units are averaged before weights are found.

    Attributes:
        a: shape (k,), mean distances of the whole to the references.
        b: shape (k, k), mean distances among references, over pairs of different answers.
    """

    a: Floats
    b: Floats


def mixture_terms(distances: ArrayLike, whole: ArrayLike, references: Sequence[ArrayLike]) -> MixtureTerms:
    """Mean distances of one unit's answers.

    Args:
        distances: shape (answers, answers), symmetric, zero on the diagonal.
        whole: shape (answers,), which answers were given to the whole evidence.
        references: for each of k references, shape (answers,), which answers were given to it alone.

    Returns:
        NaN where a mean is over no pair.
    """
    matrix, full = np.asarray(distances, dtype=float), np.asarray(whole, dtype=float)
    parts = np.stack([np.asarray(each, dtype=float) for each in references])
    sizes = parts.sum(axis=1)
    with np.errstate(invalid="ignore"):
        a = parts @ matrix @ full / (sizes * full.sum())
        b = parts @ matrix @ parts.T / (np.outer(sizes, sizes) - np.diag(sizes))
    return MixtureTerms(a, b)


def mixture_weights(a: ArrayLike, b: ArrayLike) -> Floats:
    """Find the weights in the simplex that minimise 2 a'w - w'Bw.

    The minimum lies within some face of the simplex, where the gradient along the face is zero. For the few
    references that there are, all faces are tried, so that it is exact even where an estimated `B` makes the
    objective not convex.

    Args:
        a: shape (k,).
        b: shape (k, k), symmetric.

    Returns:
        Shape (k,), no weight negative, their sum 1.

    Raises:
        ValueError: shapes do not match, or a value is not finite.
    """
    linear, quadratic = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    k = linear.size
    if linear.shape != (k,) or quadratic.shape != (k, k) or not k:
        raise ValueError(f"expected a of shape (k,) and b of shape (k, k), got {linear.shape} and {quadratic.shape}")
    if not (np.isfinite(linear).all() and np.isfinite(quadratic).all()):
        raise ValueError("a mean distance is not a finite number")
    candidates = []
    for face in (list(chosen) for size in range(1, k + 1) for chosen in combinations(range(k), size)):
        border = np.ones((len(face), 1))
        system = np.block([[quadratic[np.ix_(face, face)], border], [border.T, np.zeros((1, 1))]])
        solution = np.linalg.lstsq(system, np.append(linear[face], 1.0))[0][:-1]
        # A face without a point of zero gradient has its minimum on its edge, that is in a smaller face.
        if np.all(solution >= 0) and abs(solution.sum() - 1) < 1e-9:
            weights = np.zeros(k)
            weights[face] = solution / solution.sum()
            candidates.append(weights)
    return min(candidates, key=lambda w: float(2 * linear @ w - w @ quadratic @ w))
