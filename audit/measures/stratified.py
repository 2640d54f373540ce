"""The stratified bootstrap: runs are drawn anew within each task, and tasks stay as they are.

Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice" (NeurIPS 2021), section 4. The
drawing is SciPy's: samples that are not paired are resampled independently of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import bootstrap

RESAMPLES: Final = 2000
"""Number of resamples by default."""

_AT_ONCE: Final = 2_000_000
"""Numbers that are held in memory at once."""

Statistic = Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]
"""Takes strata of shapes (..., runs of the stratum) and gives shape (any, ...): runs are gone, other axes stay last."""


class Estimate(NamedTuple):
    """A statistic, of whatever shape, and the ends of its interval; NaN where these are unknown."""

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def stratified_bootstrap(
    strata: Sequence[ArrayLike],
    statistic: Statistic,
    *,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
    cost: int | None = None,
) -> Estimate:
    """Find a percentile interval for a statistic of runs in strata.

    Args:
        strata: arrays of shape (..., runs of the stratum), none empty, no NaN. Axes before the last are several values
            of one run, which stay together.
        statistic: of strata with an axis of resamples before the last.
        resamples: how often runs are drawn.
        level: coverage that is aimed at.
        seed: of the draws. The same runs, in whatever order, give the same interval.
        cost: numbers that the statistic holds in memory for one resample; as many as there are, if not given.

    Returns:
        The statistic of the runs as they are, with its interval: NaN where a stratum has a single run, as it is unknown
        what another one would have been.
    """
    arrays = [_in_order(stratum) for stratum in strata]
    value = np.asarray(statistic(arrays), dtype=float)
    found = _bootstrap(arrays, statistic, resamples=resamples, level=level, seed=seed, cost=cost)
    if found is None:
        return Estimate(value, np.full_like(value, np.nan), np.full_like(value, np.nan))
    return Estimate(value, np.asarray(found.confidence_interval.low), np.asarray(found.confidence_interval.high))


def replicates(
    strata: Sequence[ArrayLike], statistic: Statistic, *, resamples: int = RESAMPLES, seed: int = 0
) -> NDArray[np.float64] | None:
    """The statistic of every resample, along the last axis; None where a stratum has a single run."""
    found = _bootstrap([_in_order(stratum) for stratum in strata], statistic, resamples=resamples, seed=seed)
    return None if found is None else np.asarray(found.bootstrap_distribution, dtype=float)


def _bootstrap(
    arrays: Sequence[NDArray[np.float64]],
    statistic: Statistic,
    *,
    resamples: int,
    seed: int,
    level: float = 0.95,
    cost: int | None = None,
) -> Any:
    """SciPy's result; None where a stratum has a single run."""
    if min(array.shape[-1] for array in arrays) < 2:
        return None
    numbers = cost or sum(array.size for array in arrays)
    return bootstrap(
        arrays,
        lambda *samples, axis: statistic(samples),  # noqa: ARG005 - the axis is always the last
        paired=False,
        vectorized=True,
        axis=-1,
        n_resamples=resamples,
        batch=max(1, min(resamples, _AT_ONCE // numbers)),
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(np.random.SeedSequence(seed)),
    )


def _in_order(stratum: ArrayLike) -> NDArray[np.float64]:
    """Runs sorted by their values, so that the order in which they are given does not matter."""
    array = np.asarray(stratum, dtype=float)
    rows = array.reshape(-1, array.shape[-1])
    return np.ascontiguousarray(array[..., np.lexsort(rows[::-1])])
