"""A jump in a mean at a known cut-off: the sharp regression discontinuity design, with errors by cluster.

Where a rule is in force on one side of a number and not on the other, and nothing else changes there, the jump of the
mean outcome at that number is what the rule causes: D. L. Thistlethwaite and D. T. Campbell, Journal of Educational
Psychology 51 (1960); G. W. Imbens and T. Lemieux, "Regression discontinuity designs: a guide to practice" (Journal of
Econometrics 142, 2008). The fit is a line on either side with triangular weights; what it leaves of the curvature is
its bias, which shrinks with the bandwidth.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.measures.cluster_robust import Coefficient, cluster_robust

FEWEST: Final = 10
"""Observations within the bandwidth that each side must have."""
FEWEST_VALUES: Final = 3
"""Different values that they must have: through two, any line goes."""
_SILVERMAN: Final = 2.58
"""Silverman's rule of thumb for a triangular kernel: 1.06 times the ratio of canonical bandwidths, 2.432."""

Floats = NDArray[np.float64]


class Jump(NamedTuple):
    """The jump at the cut-off, from just below to just above it.

    Attributes:
        coefficient: its size, with error, interval and p-value; None where it cannot be estimated.
        bandwidth: distance from the cut-off up to which observations count.
        below: how many of them there are.
        above: the same, at the cut-off and above.
        why: why there is no estimate.
    """

    coefficient: Coefficient | None
    bandwidth: float
    below: int
    above: int
    why: str | None = None


def rule_of_thumb(distances: ArrayLike) -> float:
    """Silverman's bandwidth for a triangular kernel, 2.58 s n^(-1/5), s the standard deviation: 0 if nothing varies.

    B. W. Silverman, "Density estimation for statistics and data analysis" (1986), section 3.4.2; the constant for the
    kernel by J. S. Marron and D. Nolan, "Canonical kernels for density estimation" (1988).

    Args:
        distances: shape (n,), of observations from the cut-off.
    """
    values = np.asarray(distances, dtype=float)
    return float(_SILVERMAN * values.std(ddof=1) * len(values) ** -0.2) if len(values) > 1 else 0.0


def regression_discontinuity(
    outcome: ArrayLike,
    distances: ArrayLike,
    clusters: ArrayLike,
    *,
    bandwidth: float | None = None,
    level: float = 0.95,
) -> Jump:
    """Estimate the jump of a mean at distance 0: E[outcome | 0 from above] - E[outcome | 0 from below].

    A line on either side, fitted by least squares with weights 1 - abs(distance) / bandwidth; errors are those of
    `cluster_robust`.

    Args:
        outcome: shape (n,).
        distances: shape (n,), from the cut-off; 0 is above it.
        clusters: shape (n,), which cluster each observation is of.
        bandwidth: positive; by `rule_of_thumb` if not given.
        level: of the interval.

    Returns:
        Without a coefficient where a side has fewer than `FEWEST` observations within the bandwidth, or fewer than
        `FEWEST_VALUES` different distances, or all are of one cluster.

    Raises:
        ValueError: shapes differ, a value is not finite, or the bandwidth is not positive.
    """
    y, x, labels = np.asarray(outcome, dtype=float), np.asarray(distances, dtype=float), np.asarray(clusters)
    if not (y.ndim == 1 and y.shape == x.shape == labels.shape):
        raise ValueError(f"expected three arrays of shape (n,), got {y.shape}, {x.shape} and {labels.shape}")
    if not (np.isfinite(y).all() and np.isfinite(x).all()):
        raise ValueError("a value is not a finite number")
    reach = rule_of_thumb(x) if bandwidth is None else bandwidth
    if bandwidth is not None and not bandwidth > 0:
        raise ValueError(f"the bandwidth must be positive, not {bandwidth}")
    near = np.abs(x) < reach
    y, x, labels = y[near], x[near], labels[near]
    above = x >= 0
    counts = int((~above).sum()), int(above.sum())
    if why := _obstacle(x, above, labels):
        return Jump(None, reach, *counts, why)
    design = np.column_stack([np.ones_like(x), above, x, above * x])
    coefficient = cluster_robust(y, design, labels, weights=1 - np.abs(x) / reach, level=level)[1]
    return Jump(coefficient, reach, *counts, "nothing varies" if math.isnan(coefficient.se) else None)


def _obstacle(x: Floats, above: NDArray[np.bool_], clusters: NDArray[np.generic]) -> str | None:
    """Why a line cannot be fitted on either side, if so."""
    for name, side in (("below", ~above), ("at or above", above)):
        if side.sum() < FEWEST:
            return f"{side.sum()} observations {name} the cut-off within the bandwidth, fewer than {FEWEST}"
        if (values := len(np.unique(x[side]))) < FEWEST_VALUES:
            return f"{values} different {'value' if values == 1 else 'values'} {name} the cut-off"
    return "all are of one cluster" if len(np.unique(clusters)) < 2 else None
