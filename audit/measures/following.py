"""Which share of answers follows what? A mixture of reference distributions whose weights were assigned at random.

An answer is a draw from a mixture: with some probability it is made for one piece of evidence, and then it is a draw
from the answers to that piece alone. The mean of answers, in any coordinates, is then the same mixture of the means of
references, and the weights are found by least squares. Squares and products of means are taken over pairs of different
answers (U-statistics; Hoeffding, Annals of Mathematical Statistics 19, 1948): with products of sample means, weights
would shrink by the noise of references (by half at a share of 0.3).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

Floats = NDArray[np.float64]

_RANK: Final = 1e-9
"""Singular values of the normal equations below this share of the largest are taken for zero."""


class Normal(NamedTuple):
    """Normal equations of units, which add up.

    Attributes:
        matrix: shape (units, parameters, parameters).
        right: shape (units, parameters).
    """

    matrix: Floats
    right: Floats


class Estimates(NamedTuple):
    """Linear functions of the parameters, estimated over clusters.

    Attributes:
        values: shape (functions,).
        errors: shape (functions,), jackknife standard errors; NaN for one cluster.
        without: shape (clusters, functions), the estimates without each cluster.
    """

    values: Floats
    errors: Floats
    without: Floats

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Ends of confidence intervals by Student's t with one degree of freedom less than there are clusters."""
        degrees = len(self.without) - 1
        width = (
            float(stdtrit(degrees, 0.5 + level / 2)) * self.errors
            if degrees > 0
            else np.full(len(self.values), math.nan)
        )
        return self.values - width, self.values + width

    def p(self) -> Floats:
        """One-sided, of the hypotheses that the functions are at most zero, by the same distribution."""
        degrees = len(self.without) - 1
        if degrees < 1:
            return np.full(len(self.values), math.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(1 - stdtr(degrees, self.values / self.errors))


def products(references: Sequence[Floats]) -> Floats:
    """Inner products of the means of references, without bias: shape (references, references).

    Args:
        references: each of shape (answers, coordinates), two answers or more.
    """
    sums = np.array([each.sum(axis=0) for each in references])
    sizes = np.array([len(each) for each in references])
    found = sums @ sums.T / np.outer(sizes, sizes)
    for place, each in enumerate(references):
        found[place, place] = (sums[place] @ sums[place] - (each**2).sum()) / (len(each) * (len(each) - 1))
    return np.asarray(found)


def normal_equations(answers: Floats, weights: Floats, references: Sequence[Floats]) -> tuple[Floats, Floats]:
    """What one unit adds to the normal equations.

    Args:
        answers: shape (answers, coordinates).
        weights: shape (answers, parameters, references), by how much a parameter raises the weight of a reference in
            an answer.
        references: each of shape (answers of its own, coordinates).

    Returns:
        Shapes (parameters, parameters) and (parameters,).
    """
    means = np.array([each.mean(axis=0) for each in references])
    # One matrix product in place of a loop over pairs of references.
    flat = weights.transpose(1, 0, 2).reshape(weights.shape[1], -1)
    spread = (weights @ products(references)).transpose(1, 0, 2).reshape(flat.shape)
    return flat @ spread.T, flat @ (answers @ means.T).ravel()


def solve(matrix: Floats, right: Floats) -> Floats:
    """The parameters; the shortest solution where the equations do not determine them."""
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=_RANK)[0])


def estimate(normal: Normal, clusters: NDArray[np.intp], functions: Floats) -> Estimates:
    """Solve the equations of all units together, and again without each cluster.

    Args:
        normal: of the units.
        clusters: shape (units,), numbers from 0.
        functions: shape (functions, parameters), the linear functions of the parameters that are wanted.
    """
    number = int(clusters.max()) + 1
    matrices = np.zeros((number, *normal.matrix.shape[1:]))
    rights = np.zeros((number, normal.right.shape[1]))
    np.add.at(matrices, clusters, normal.matrix)
    np.add.at(rights, clusters, normal.right)
    matrix, right = matrices.sum(axis=0), rights.sum(axis=0)
    values = functions @ solve(matrix, right)
    if number == 1:
        return Estimates(values, np.full(len(values), math.nan), values[None])
    without = np.array([functions @ solve(matrix - a, right - b) for a, b in zip(matrices, rights, strict=True)])
    errors = np.sqrt((number - 1) / number * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    return Estimates(values, errors, without)


def influence(normal: Normal, functions: Floats) -> Floats:
    """By how much each unit raises the estimates, to first order: shape (units, functions), which sum to zero.

    Args:
        normal: of the units.
        functions: shape (functions, parameters).
    """
    matrix = normal.matrix.sum(axis=0)
    left = normal.right - normal.matrix @ solve(matrix, normal.right.sum(axis=0))
    return np.asarray(left @ (functions @ np.linalg.pinv(matrix, rcond=_RANK)).T)


def ratio(above: Floats, below: Floats, clusters: NDArray[np.intp]) -> tuple[float, float]:
    """A ratio of sums over units, and its jackknife standard error over clusters; see `ratio_estimates`."""
    found = ratio_estimates(above, below, clusters)
    return float(found.values[0]), float(found.errors[0])


def ratio_estimates(above: Floats, below: Floats, clusters: NDArray[np.intp]) -> Estimates:
    """A ratio of sums over units, as the only function that is estimated.

    Args:
        above: shape (units,).
        below: shape (units,).
        clusters: shape (units,), numbers from 0.

    Returns:
        NaN where the sum below is not positive; the error is NaN for one cluster, or where it is not positive without
        one of them.
    """
    sums = np.array([np.bincount(clusters, weights=each) for each in (above, below)])
    total = sums.sum(axis=1)
    rest = total[:, None] - sums
    number = sums.shape[1]
    value = np.array([total[0] / total[1] if total[1] > 0 else math.nan])
    if number == 1 or total[1] <= 0 or np.any(rest[1] <= 0):
        return Estimates(value, np.array([math.nan]), np.full((number, 1), math.nan))
    without = (rest[0] / rest[1])[:, None]
    return Estimates(
        value, np.sqrt((number - 1) / number * ((without - without.mean(axis=0)) ** 2).sum(axis=0)), without
    )


class Difference(NamedTuple):
    """Differences of functions that were estimated twice.

    Attributes:
        values: shape (functions,), the second minus the first.
        errors: shape (functions,), their standard errors; NaN for one cluster.
        degrees: of freedom.
    """

    values: Floats
    errors: Floats
    degrees: int

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Ends of confidence intervals by Student's t."""
        width = (
            float(stdtrit(self.degrees, 0.5 + level / 2)) * self.errors
            if self.degrees > 0
            else np.full(len(self.values), math.nan)
        )
        return self.values - width, self.values + width

    def p(self) -> Floats:
        """Two-sided, of the hypotheses that there is no difference; NaN where the error is zero."""
        if self.degrees < 1:
            return np.full(len(self.values), math.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(
                2 * stdtr(self.degrees, -np.abs(self.values) / np.where(self.errors > 0, self.errors, math.nan))
            )


def difference(
    first: Estimates, second: Estimates, clusters: tuple[Sequence[Hashable], Sequence[Hashable]]
) -> Difference:
    """Differences of two estimates, by the jackknife over the clusters of both.

    Leaving out a cluster that both have changes both, so that the one change is subtracted from the other; a cluster of
    one of them changes that one alone. Over the same clusters this is the jackknife of the paired difference; over
    clusters none of which is shared, variances add up.

    Args:
        first: of one.
        second: of the other, of the same functions.
        clusters: what the clusters of each are called, in the order of `Estimates.without`.

    Returns:
        With as many degrees of freedom as the estimate over fewer clusters has: for the same clusters those of the
        paired difference, for others rather too few than too many.
    """
    moved: dict[Hashable, Floats] = {}
    for sign, each, names in zip((-1.0, 1.0), (first, second), clusters, strict=True):
        number = len(each.without)
        own = sign * np.sqrt((number - 1) / number) * (each.without - each.without.mean(axis=0))
        for name, row in zip(names, own, strict=True):
            moved[name] = moved.get(name, 0.0) + row
    errors = np.sqrt((np.array(list(moved.values())) ** 2).sum(axis=0))
    known = np.isfinite(first.errors) & np.isfinite(second.errors)
    degrees = min(len(first.without), len(second.without)) - 1
    return Difference(second.values - first.values, np.where(known, errors, math.nan), degrees)
