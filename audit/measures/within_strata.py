"""A linear effect within strata, tested by exchanging outcomes within each.

Ordinary least squares with an intercept for each stratum. Without covariates the test is exact where outcomes of a
stratum are exchangeable if there is no effect. With covariates residuals are exchanged, and the size is close to
nominal: D. Freedman and D. Lane, "A nonstochastic interpretation of reported significance levels" (Journal of Business
& Economic Statistics 1, 1983); A. M. Winkler et al., "Permutation inference for the general linear model" (NeuroImage
92, 2014).
"""

from __future__ import annotations

import functools
import math
from itertools import permutations
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.measures.cluster_robust import cluster_robust
from audit.measures.stratified_permutation import REDRAWS, Floats, Permuted, Seed, groups, permutation_p

_SAME: Final = 1e-9
"""What is left of a regressor, relative to its size, that counts as nothing."""
_TABULATED: Final = 6
"""Observations of a stratum up to which all orders are tabulated; a redraw is then a draw of a place in the table."""
_AT_ONCE: Final = 4_000_000
"""Outcomes of redraws that are in memory at once."""


class WithinEffect(NamedTuple):
    """The slope of an outcome on a regressor within strata.

    Attributes:
        effect: change of the outcome when the regressor grows by 1; NaN where covariates leave nothing of it.
        low: end of its interval, from errors by cluster (CR2); NaN where one cluster informs it.
        high: the other end.
        p: of no effect, two-sided, by permutations within strata.
        strata: in which the regressor varies.
        observations: in these strata.
    """

    effect: float
    low: float
    high: float
    p: float
    strata: int
    observations: int


def within_effect(
    y: ArrayLike,
    x: ArrayLike,
    strata: ArrayLike,
    clusters: ArrayLike,
    *,
    covariates: ArrayLike | None = None,
    level: float = 0.95,
    redraws: int = REDRAWS,
    seed: Seed = 0,
) -> WithinEffect:
    """Estimate and test the slope of an outcome on a regressor within strata.

    Args:
        y: shape (n,), the outcome.
        x: shape (n,), the regressor; NaN where it is not known. A stratum with such a value is left out, and so is one
            in which it does not vary.
        strata: shape (n,), which stratum each observation is of.
        clusters: shape (n,), which cluster; each stratum lies in one.
        covariates: shape (n, k), what the slope is adjusted for, linearly.
        level: of the interval.
        redraws: how often outcomes are exchanged.
        seed: of the redraws.

    Raises:
        ValueError: shapes do not match, or an outcome or a covariate is not finite.
    """
    outcome, regressor = np.asarray(y, dtype=float), np.asarray(x, dtype=float)
    places, labels = np.asarray(strata), np.asarray(clusters)
    others = np.empty((len(outcome), 0)) if covariates is None else np.asarray(covariates, dtype=float)
    if outcome.ndim != 1 or not outcome.shape == regressor.shape == places.shape == labels.shape == others.shape[:1]:
        raise ValueError(
            f"expected y, x, strata and clusters (n,) and covariates (n, k), got {outcome.shape}, {regressor.shape}, "
            f"{places.shape}, {labels.shape} and {others.shape}"
        )
    if not (np.isfinite(outcome).all() and np.isfinite(others).all()):
        raise ValueError("an outcome or a covariate is not a finite number")
    # A value that is not known makes the range NaN, which is not above 0.
    members = [each for each in groups(places) if np.ptp(regressor[each]) > 0]
    if not members:
        return WithinEffect(math.nan, math.nan, math.nan, math.nan, 0, 0)
    chosen = np.concatenate(members)
    ends = np.cumsum([len(each) for each in members])
    blocks = np.split(np.arange(len(chosen)), ends[:-1])
    centred = _centred(np.column_stack([outcome, regressor, others])[chosen], blocks)
    left = _without(centred[:, :2], centred[:, 2:])
    remaining, slope = left[:, 0], left[:, 1]
    size = float(slope @ slope)
    counts = len(members), len(chosen)
    if size <= _SAME * float(centred[:, 1] @ centred[:, 1]):
        return WithinEffect(math.nan, math.nan, math.nan, math.nan, *counts)
    totals = _exchanged(remaining, slope, blocks, redraws, np.random.default_rng(seed))
    parts = np.array([remaining[each] @ slope[each] for each in blocks])
    p = permutation_p(Permuted(parts, totals, exact=False), size=float(np.abs(outcome[chosen]).sum()))
    [fit] = cluster_robust(remaining, slope[:, None], labels[chosen], level=level)
    return WithinEffect(fit.estimate, fit.low, fit.high, p, *counts)


def _centred(columns: Floats, blocks: list[NDArray[Any]]) -> Floats:
    means = np.empty_like(columns)
    for each in blocks:
        means[each] = columns[each].mean(axis=0)
    return columns - means


def _without(columns: Floats, others: Floats) -> Floats:
    """What least squares on other columns leaves of each; all of it without others."""
    fitted = others @ np.linalg.lstsq(others, columns, rcond=None)[0] if others.shape[1] else 0.0
    return np.asarray(columns - fitted)


def _exchanged(
    outcome: Floats, slope: Floats, blocks: list[NDArray[Any]], redraws: int, rng: np.random.Generator
) -> Floats:
    """Sums of products after outcomes are permuted within blocks: shape (redraws,)."""
    totals = np.zeros(redraws)
    for size in sorted({len(each) for each in blocks}):
        alike = np.stack([each for each in blocks if len(each) == size])
        values, weights = outcome[alike], slope[alike]
        table = np.einsum("swi,si->sw", values[:, _orders(size)], weights) if size <= _TABULATED else None
        step = max(1, _AT_ONCE // values.size)
        for start in range(0, redraws, step):
            count = min(step, redraws - start)
            if table is not None:
                drawn = rng.integers(table.shape[1], size=(count, len(table)))
                totals[start : start + count] += table[np.arange(len(table)), drawn].sum(axis=1)
            else:
                permuted = rng.permuted(np.broadcast_to(values, (count, *values.shape)), axis=-1)
                totals[start : start + count] += np.einsum("rsi,si->r", permuted, weights)
    return totals


@functools.cache
def _orders(size: int) -> NDArray[np.intp]:
    """All orders of some places, shape (orders, size)."""
    return np.array(list(permutations(range(size))), dtype=np.intp)
