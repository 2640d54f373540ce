"""Means and regression coefficients with standard errors that allow for dependence within a few clusters.

CR2, the bias-reduced linearization of R. M. Bell and D. F. McCaffrey, "Bias reduction in standard errors for linear
regression with multi-stage samples" (Survey Methodology 28, 2002), with Satterthwaite's degrees of freedom for each
coefficient as in G. W. Imbens and M. Kolesár, "Robust standard errors in small samples" (Review of Economics and
Statistics 98, 2016), and J. E. Pustejovsky and E. Tipton (Journal of Business & Economic Statistics 36, 2018),
section 2.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from audit.measures.stratified_permutation import Floats, groups

_ROUNDING: Final = 1e-12
FEW: Final = 4.0
"""Degrees of freedom below which an interval is not to be relied on: E. Tipton, "Small sample adjustments for robust
variance estimation with meta-regression" (Psychological Methods 20, 2015). Of G clusters there are at most G - 1."""


class Coefficient(NamedTuple):
    """An estimate with its interval, and the p-value of the hypothesis that it is 0; NaN where they are not known.

    Attributes:
        estimate: of the coefficient.
        se: its CR2 standard error.
        df: Satterthwaite's degrees of freedom.
        low: end of the interval.
        high: end of the interval.
        p: two-sided.
    """

    estimate: float
    se: float
    df: float
    low: float
    high: float
    p: float

    @property
    def is_rough(self) -> bool:
        """Whether too few clusters inform the interval to rely on it."""
        return self.df < FEW


def are_few(clusters: int) -> bool:
    """Whether an interval by so many clusters is not to be relied on, however equal they are."""
    return clusters - 1 < FEW


def clustered_mean(
    values: ArrayLike, clusters: ArrayLike, *, weights: ArrayLike | None = None, level: float = 0.95
) -> Coefficient:
    """The mean of values that depend on each other within clusters.

    With weights of one over the size of a cluster, clusters count equally, and it is the t interval of their means.

    Args:
        values: shape (n,). NaN is left out.
        clusters: shape (n,), which cluster each is of.
        weights: shape (n,), positive; equal ones without.
        level: of the interval.

    Returns:
        NaN but for the estimate where there is one cluster, or nothing varies.

    Raises:
        ValueError: lengths differ, or a value is infinite.
    """
    outcome, labels = np.asarray(values, dtype=float), np.asarray(clusters)
    if outcome.ndim != 1 or labels.shape != outcome.shape:
        raise ValueError(f"expected a cluster for each value, got shapes {outcome.shape} and {labels.shape}")
    known = ~np.isnan(outcome)
    if not known.any():
        return Coefficient(*[math.nan] * 6)
    weight = None if weights is None else np.asarray(weights, dtype=float)[known]
    ones = np.ones((int(known.sum()), 1))
    return cluster_robust(outcome[known], ones, labels[known], weights=weight, level=level)[0]


def cluster_robust(
    y: ArrayLike, x: ArrayLike, clusters: ArrayLike, *, weights: ArrayLike | None = None, level: float = 0.95
) -> list[Coefficient]:
    """Regress an outcome by least squares, with standard errors that are robust to dependence within clusters.

    The working model, in which CR2 is unbiased and from which degrees of freedom are, has independent errors of equal
    variance, or with weights of a variance inversely proportional to them.

    Args:
        y: shape (n,), the outcome.
        x: shape (n, k), the regressors, a column of ones among them if an intercept is wanted.
        clusters: shape (n,), which cluster each observation is of.
        weights: shape (n,), positive; equal ones without.
        level: of the intervals.

    Returns:
        One for each column of `x`. A coefficient that only one cluster informs has no interval.

    Raises:
        ValueError: shapes do not match, a value is not finite, a weight not positive, or columns depend on each other.
    """
    outcome, design, labels = np.asarray(y, dtype=float), np.asarray(x, dtype=float), np.asarray(clusters)
    if design.ndim != 2 or not outcome.shape == labels.shape == design.shape[:1]:
        raise ValueError(
            f"expected y (n,), x (n, k) and clusters (n,), got {outcome.shape}, {design.shape}, {labels.shape}"
        )
    if not (np.isfinite(outcome).all() and np.isfinite(design).all()):
        raise ValueError("a value is not a finite number")
    if weights is not None:
        weight = np.asarray(weights, dtype=float)
        if weight.shape != outcome.shape or not np.all(weight > 0):
            raise ValueError("expected one positive weight for each observation")
        root = np.sqrt(weight / weight.mean())
        outcome, design = outcome * root, design * root[:, None]
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise ValueError("the columns of x depend on each other, or are more than the observations")
    bread = np.linalg.inv(design.T @ design)
    estimates = bread @ design.T @ outcome
    residuals = outcome - design @ estimates
    members = groups(labels)
    scores = np.empty((len(members), design.shape[1]))
    lengths, inner = np.empty_like(scores), np.empty((len(members), *bread.shape))
    sizes = np.array([len(each) for each in members])
    for size in np.unique(sizes):  # all clusters of a size at once
        places = np.flatnonzero(sizes == size)
        rows = np.stack([members[place] for place in places])
        basis, triangle = np.linalg.qr(design[rows])
        upwards = triangle.mT
        # The hat matrix of a cluster is Q (R M R') Q', so that the adjustment (I - H)^(-1/2) acts within Q alone.
        adjusted = upwards @ _inverse_roots(np.eye(triangle.shape[1]) - triangle @ bread @ upwards)
        scores[places] = (bread @ adjusted @ basis.mT @ residuals[rows][..., None])[..., 0]
        lengths[places] = ((bread @ adjusted) ** 2).sum(axis=-1)
        inner[places] = upwards @ adjusted.mT @ bread
    variances = (scores**2).sum(axis=0)
    scale = np.abs(outcome).max() * np.sqrt(np.diagonal(bread))
    found = []
    for column, estimate in enumerate(estimates):
        # The covariances of the clusters' scores are D - B M B' with a diagonal D, and with B of as many columns as
        # there are coefficients: their trace and the sum of their squares need no matrix of all pairs of clusters.
        d, b = lengths[:, column], inner[:, :, column]
        own, common = ((b @ bread) * b).sum(axis=1), b.T @ b @ bread
        total = float(d.sum() - own.sum()) if len(members) > 1 else 0.0
        squares = float(d @ d - 2 * d @ own + (common * common.T).sum())
        found.append(
            _interval(float(estimate), math.sqrt(variances[column]), total, squares, float(scale[column]), level)
        )
    return found


def _interval(estimate: float, error: float, total: float, squares: float, size: float, level: float) -> Coefficient:
    """Student's t interval with degrees of freedom from the trace and the sum of squares of the scores' covariances."""
    if not error > _ROUNDING * size or not total > 0:
        return Coefficient(estimate, *[math.nan] * 5)
    df = total**2 / squares
    reach = float(stdtrit(df, (1 + level) / 2)) * error
    p = 2 * float(stdtr(df, -abs(estimate) / error))
    return Coefficient(estimate, error, df, estimate - reach, estimate + reach, p)


def _inverse_roots(matrices: Floats) -> Floats:
    """Symmetric inverse square roots, zero in the directions that a cluster alone decides (Moore and Penrose)."""
    values, vectors = np.linalg.eigh(matrices)
    roots = np.where(values > 1e-10, 1 / np.sqrt(np.maximum(values, 1e-10)), 0.0)
    return np.asarray(vectors * roots[..., None, :] @ vectors.mT, dtype=float)
