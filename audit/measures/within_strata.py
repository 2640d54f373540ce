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
from collections.abc import Sequence
from itertools import permutations
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.measures.cluster_robust import cluster_robust
from audit.measures.stratified_permutation import REDRAWS, Floats, Permuted, Seed, permutation_p

_SAME: Final = 1e-9
"""What is left of a regressor, relative to its size, that counts as nothing."""
_TABULATED: Final = 6
"""Observations of a stratum up to which all orders are tabulated; a redraw is then a draw of a place in the table."""
_AT_ONCE: Final = 4_000_000
"""Outcomes of redraws that are in memory at once."""
_IN_CACHE: Final = 100_000
"""Places drawn from tables at once: few enough for the processor's cache."""


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


def within_effects(
    y: ArrayLike,
    regressors: Sequence[tuple[ArrayLike, ArrayLike | None]],
    strata: ArrayLike,
    clusters: ArrayLike,
    *,
    level: float = 0.95,
    redraws: int = REDRAWS,
    seed: Seed = 0,
) -> list[WithinEffect]:
    """Estimate and test the slope of an outcome on each of several regressors within strata, all by the same redraws.

    Args:
        y: shape (n,), the outcome.
        regressors: each of shape (n,), with its covariates of shape (n, k), what the slope is adjusted for, linearly,
            or None. NaN is a regressor that is not known. A stratum with such a value is left out, and so is one in
            which it does not vary.
        strata: shape (n,), which stratum each observation is of.
        clusters: shape (n,), which cluster; each stratum lies in one.
        level: of the interval.
        redraws: how often outcomes are exchanged.
        seed: of the redraws.

    Raises:
        ValueError: shapes do not match, or an outcome or a covariate is not finite.
    """
    outcome, places, labels = np.asarray(y, dtype=float), np.asarray(strata), np.asarray(clusters)
    fits = [_fit(outcome, x, places, labels, covariates) for x, covariates in regressors]
    permuted: dict[int, Floats] = {}
    while waiting := [number for number, fit in enumerate(fits) if number not in permuted and fit.slope.size]:
        alike = [number for number in waiting if fits[number].shape == fits[waiting[0]].shape]
        totals = _exchanged([fits[number] for number in alike], redraws, np.random.default_rng(seed))
        permuted |= dict(zip(alike, totals, strict=True))
    found = []
    for number, fit in enumerate(fits):
        if number not in permuted:
            found.append(WithinEffect(math.nan, math.nan, math.nan, math.nan, *fit.counts))
            continue
        observed = np.array([fit.remaining @ fit.slope])
        p = permutation_p(Permuted(observed, permuted[number], exact=False), size=fit.size)
        [slope] = cluster_robust(fit.remaining, fit.slope[:, None], fit.clusters, level=level)
        found.append(WithinEffect(slope.estimate, slope.low, slope.high, p, *fit.counts))
    return found


class _Fit(NamedTuple):
    """What is left of an outcome and a regressor, in the strata in which it varies; empty where nothing is.

    Attributes:
        remaining: of the outcome.
        slope: of the regressor.
        blocks: for each size of strata the places of their observations, shape (strata, size).
        clusters: of the observations.
        size: the magnitude of the outcome.
        counts: of strata and observations.
    """

    remaining: Floats
    slope: Floats
    blocks: dict[int, NDArray[np.intp]]
    clusters: NDArray[Any]
    size: float
    counts: tuple[int, int]

    @property
    def shape(self) -> list[tuple[int, int]]:
        """Sizes and numbers of strata, which decide what redraws are."""
        return [(size, len(rows)) for size, rows in self.blocks.items()]


def _fit(
    outcome: Floats, x: ArrayLike, places: NDArray[Any], labels: NDArray[Any], covariates: ArrayLike | None
) -> _Fit:
    regressor = np.asarray(x, dtype=float)
    others = np.empty((len(outcome), 0)) if covariates is None else np.asarray(covariates, dtype=float)
    if outcome.ndim != 1 or not outcome.shape == regressor.shape == places.shape == labels.shape == others.shape[:1]:
        raise ValueError(
            f"expected y, x, strata and clusters (n,) and covariates (n, k), got {outcome.shape}, {regressor.shape}, "
            f"{places.shape}, {labels.shape} and {others.shape}"
        )
    if not (np.isfinite(outcome).all() and np.isfinite(others).all()):
        raise ValueError("an outcome or a covariate is not a finite number")
    varies = np.zeros(len(outcome), dtype=bool)
    for rows in by_size(places).values():
        # A value that is not known makes the range NaN, which is not above 0.
        varies[rows[np.ptp(regressor[rows], axis=1) > 0]] = True
    chosen = np.flatnonzero(varies)
    chosen = chosen[np.argsort(places[chosen], kind="stable")]
    blocks = by_size(places[chosen])
    counts = sum(map(len, blocks.values())), len(chosen)
    size = float(np.abs(outcome[chosen]).sum())
    centred = _centred(np.column_stack([outcome, regressor, others])[chosen], blocks)
    left = _without(centred[:, :2], centred[:, 2:])
    remaining, slope = left[:, 0], left[:, 1]
    if float(slope @ slope) <= _SAME * float(centred[:, 1] @ centred[:, 1]):
        remaining = slope = np.empty(0)
    return _Fit(remaining, slope, blocks, labels[chosen], size, counts)


def by_size(labels: NDArray[Any]) -> dict[int, NDArray[np.intp]]:
    """The places of each label, of labels with as many places together: shape (labels, places), in the order of labels.

    Args:
        labels: shape (n,).
    """
    _, inverse, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order, starts = np.argsort(inverse, kind="stable"), np.cumsum(sizes) - sizes
    return {int(size): order[starts[sizes == size][:, None] + np.arange(size)] for size in np.unique(sizes)}


def _centred(columns: Floats, blocks: dict[int, NDArray[np.intp]]) -> Floats:
    centred = np.empty_like(columns)
    for rows in blocks.values():
        centred[rows] = columns[rows] - columns[rows].mean(axis=1, keepdims=True)
    return centred


def _without(columns: Floats, others: Floats) -> Floats:
    """What least squares on other columns leaves of each; all of it without others."""
    fitted = others @ np.linalg.lstsq(others, columns, rcond=None)[0] if others.shape[1] and len(others) else 0.0
    return np.asarray(columns - fitted)


def _exchanged(fits: Sequence[_Fit], redraws: int, rng: np.random.Generator) -> list[Floats]:
    """Sums of products after outcomes are permuted within strata of the same sizes: shape (redraws,) for each."""
    totals = [np.zeros(redraws) for _ in fits]
    for size, strata in fits[0].shape:
        places = [fit.blocks[size] for fit in fits]
        values = [fit.remaining[rows] for fit, rows in zip(fits, places, strict=True)]
        weights = [fit.slope[rows] for fit, rows in zip(fits, places, strict=True)]
        if size <= _TABULATED:
            orders = _orders(size)
            tables = [np.einsum("swi,si->sw", v[:, orders], w) for v, w in zip(values, weights, strict=True)]
            _add_drawn(totals, tables, rng)
            continue
        step = max(1, _AT_ONCE // (strata * size))
        for start in range(0, redraws, step):
            count = min(step, redraws - start)
            state = rng.bit_generator.state
            for total, v, w in zip(totals, values, weights, strict=True):
                rng.bit_generator.state = state
                permuted = rng.permuted(np.broadcast_to(v, (count, *v.shape)), axis=-1)
                total[start : start + count] += np.einsum("rsi,si->r", permuted, w)
    return totals


def _add_drawn(totals: Sequence[Floats], tables: Sequence[Floats], rng: np.random.Generator) -> None:
    """Draw a place in each row of tables, and add up what is there, for every redraw."""
    strata, orders = tables[0].shape
    begins = orders * np.arange(strata)
    step = max(1, _IN_CACHE // strata)
    for start in range(0, len(totals[0]), step):
        count = min(step, len(totals[0]) - start)
        drawn = rng.integers(orders, size=(count, strata))
        drawn += begins
        for total, table in zip(totals, tables, strict=True):
            total[start : start + count] += table.take(drawn).sum(axis=1)


@functools.cache
def _orders(size: int) -> NDArray[np.intp]:
    """All orders of some places, shape (orders, size)."""
    return np.array(list(permutations(range(size))), dtype=np.intp)
