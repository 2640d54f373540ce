"""Energy distances between two arms of an experiment, and their permutation test within strata.

G. J. Székely and M. L. Rizzo, "Testing for equal distributions in high dimension" (InterStat, 2004). Answers of a
stratum are compared with each other only, by a matrix of their distances; strata are made comparable by their mean
distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist, squareform

from audit.measures.stratified_permutation import (
    REDRAWS,
    Contribution,
    Floats,
    Seed,
    permutation_p,
    permute_within,
)

Bools = NDArray[np.bool_]

_ROUNDING: Final = 1e-12
"""Differences this small, relative to the size of what is summed, are rounding errors."""


class EnergyTest(NamedTuple):
    """A comparison of two arms over strata.

    Attributes:
        statistic: mean over strata of their values.
        p: of the hypothesis that the arms do not differ within strata, one-sided.
        null_sd: standard deviation of the statistic over permutations, from which power is known.
        values: shape (strata,), each stratum's value; NaN where it is left out.
        strata: how many have a value.
        left_out: how many have none, there being too few answers.
    """

    statistic: float
    p: float
    null_sd: float
    values: Floats
    strata: int
    left_out: int


def energy_test(
    distances: Sequence[ArrayLike],
    first: Sequence[ArrayLike],
    *,
    redraws: int = REDRAWS,
    seed: Seed = 0,
) -> EnergyTest:
    """Test whether two arms differ in distribution, by permuting their names within strata.

    A stratum's value is the squared energy distance of the arms, in units of the mean distance of their answers:
    2 E|X - Y| - E|X - X'| - E|Y - Y'| by U-statistics, that is means over pairs of different answers, so that it is
    zero on average where arms do not differ, and may be negative. An arm of one answer has no spread of its own, and is
    taken to have the other's.

    Args:
        distances: for each stratum the distances of its answers, shape (answers, answers).
        first: for each stratum which answers are of the first arm, shape (answers,).
        redraws: how often names are permuted, where not all permutations are counted.
        seed: of the redraws.

    Returns:
        Statistic and p are NaN where no stratum has answers of both arms, three or more in all.

    Raises:
        ValueError: shapes do not match, or what is given are no distances.
    """
    checked = [_checked(matrix, arms) for matrix, arms in zip(distances, first, strict=True)]
    matrices = [_scaled(matrix) for matrix, _ in checked]
    names = [arms for _, arms in checked]

    def contribution(places: Sequence[int], arms: Floats) -> Floats:
        return _energies(np.stack([matrices[place] for place in places]), arms)

    return _tested(names, contribution, _can_compare, redraws=redraws, seed=seed)


def presence_test(
    distances: Sequence[ArrayLike],
    base: Sequence[ArrayLike],
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    *,
    redraws: int = REDRAWS,
    seed: Seed = 0,
) -> EnergyTest:
    """Test whether one arm is farther from a base than its control is, by permuting the names of these two in strata.

    It is exact for the hypothesis that arm and control have the same distribution, and asks for differences that lie
    in the direction away from the base. A stratum's value is how much farther the arm is: D2(base, first) - D2(base,
    second), squared energy distances in units of the mean distance of all answers of the three arms.

    Args:
        distances: for each stratum, shape (answers, answers), symmetric.
        base: for each stratum, shape (answers,), which answers are of the base; those keep their name.
        first: likewise, which are of the arm whose effect is asked for.
        second: likewise, which are of its control.
        redraws: how often names are permuted, where not all permutations are counted.
        seed: of the redraws.

    Returns:
        Statistic and p are NaN where no stratum has two answers of each arm.

    Raises:
        ValueError: as `energy_test` raises it, or an answer is of two arms.
    """
    matrices: list[Floats] = []
    to_base: list[Floats] = []
    names: list[Bools] = []
    for table, *arms in zip(distances, base, first, second, strict=True):
        (matrix, ground), (_, effect), (_, control) = (_checked(table, arm) for arm in arms)
        if np.any(ground.astype(int) + effect + control > 1):
            raise ValueError("an answer is of two arms")
        used, moved = ground | effect | control, effect | control
        scaled = np.zeros_like(matrix)
        scaled[np.ix_(used, used)] = _scaled(matrix[np.ix_(used, used)])
        enough = ground.sum() > 1
        matrices.append(scaled[np.ix_(moved, moved)])
        to_base.append(scaled[np.ix_(ground, moved)].mean(axis=0) if enough else np.zeros(moved.sum()))
        # A stratum without two answers of the base has no value, as one without two of an arm.
        names.append(effect[moved] if enough else np.zeros(moved.sum(), dtype=bool))

    def contribution(places: Sequence[int], arms: Floats) -> Floats:
        within = np.stack([matrices[place] for place in places])
        towards = np.stack([to_base[place] for place in places])
        others = 1 - arms
        gap = towards @ (arms / arms.sum(axis=1, keepdims=True) - others / others.sum(axis=1, keepdims=True)).T
        _, inner, outer = _means(within, arms)
        return np.asarray(2 * gap - inner + outer)

    return _tested(names, contribution, _have_spread, redraws=redraws, seed=seed)


def pairwise_distances(answers: ArrayLike) -> Floats:
    """Euclidean distances between the rows of a table: shape (answers, answers).

    Args:
        answers: shape (answers, features).
    """
    return np.asarray(squareform(pdist(np.asarray(answers, dtype=float))), dtype=float)


def bounded(distances: ArrayLike, scale: float) -> Floats:
    """Bound distances by 1, so that a few far answers do not rule: d / (scale + d).

    A Bernstein function of a distance of negative type is of negative type (Schilling, Song and Vondraček, "Bernstein
    Functions", 2012, chapter 4), so that energy distances stay distances.

    Args:
        distances: of any shape.
        scale: the distance that becomes one half.

    Raises:
        ValueError: the scale is not positive.
    """
    if not scale > 0:
        raise ValueError(f"the scale must be positive, not {scale}")
    values = np.asarray(distances, dtype=float)
    return values / (scale + values)


def _tested(
    names: list[Bools], contribution: Contribution, enough: Callable[[Bools], bool], *, redraws: int, seed: Seed
) -> EnergyTest:
    used = [place for place, arms in enumerate(names) if enough(arms)]
    values = np.full(len(names), math.nan)
    if not used:
        return EnergyTest(math.nan, math.nan, math.nan, values, 0, len(names))

    def of_used(places: Sequence[int], arms: Floats) -> Floats:
        return contribution([used[place] for place in places], arms)

    permuted = permute_within([names[place] for place in used], of_used, redraws=redraws, seed=seed)
    values[used] = permuted.parts
    p = permutation_p(permuted, size=float(len(used)), alternative="greater")
    statistic, null_sd = float(permuted.parts.sum() / len(used)), float(permuted.totals.std() / len(used))
    return EnergyTest(statistic, p, null_sd, values, len(used), len(names) - len(used))


def _can_compare(arms: Bools) -> bool:
    """Whether there are answers of both arms, and two of one."""
    return bool(arms.size > 2 and arms.any() and not arms.all())


def _have_spread(arms: Bools) -> bool:
    """Whether there are two answers of both arms."""
    return bool(min(arms.sum(), (~arms).sum()) > 1)


def _checked(distances: ArrayLike, first: ArrayLike) -> tuple[Floats, Bools]:
    matrix, arms = np.asarray(distances, dtype=float), np.asarray(first, dtype=bool)
    if arms.ndim != 1 or matrix.shape != (arms.size, arms.size):
        raise ValueError(f"expected distances of {arms.size} answers to each other, got shape {matrix.shape}")
    if not (np.isfinite(matrix).all() and np.all(matrix >= 0)):
        raise ValueError("a distance is negative or not a finite number")
    if np.any(np.diagonal(matrix)):
        raise ValueError("an answer's distance to itself is not 0")
    return matrix, arms


def _scaled(matrix: Floats) -> Floats:
    """Distances in units of their mean over pairs of different answers, which no permutation changes."""
    total = float(matrix.sum())
    return matrix * (len(matrix) * (len(matrix) - 1) / total) if total > 0 else np.zeros_like(matrix)


def _energies(matrices: Floats, arms: Floats) -> Floats:
    """Energy distances of strata, shape (strata, answers, answers), under arrangements of arms."""
    between, first, second = _means(matrices, arms)
    return 2 * between - first - second


def _means(matrices: Floats, arms: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean distances between arms, and between different answers of each: shape (strata, arrangements).

    All arrangements have arms of the same sizes. Where one has a single answer, the other's mean counts for both.
    """
    size, other = arms.sum(axis=1), (1 - arms).sum(axis=1)
    first = np.einsum("ukn,kn->uk", arms @ matrices, arms)
    rows = matrices.sum(axis=2) @ arms.T
    second = matrices.sum(axis=(1, 2))[:, None] - 2 * rows + first
    between = (rows - first) / (size * other)
    own = first / (size * (size - 1)) if size[0] > 1 else None
    others = second / (other * (other - 1)) if other[0] > 1 else None
    if own is None or others is None:
        own = others = own if others is None else others
    assert own is not None and others is not None  # noqa: PT018
    return between, own, others


class FarthestTest(NamedTuple):
    """Which of several arms is farthest from a base.

    Attributes:
        p: by arm, of the hypothesis that the arms have one distribution, against the alternative that it is farther
            from the base than the others are on average.
        values: shape (strata, arms): squared energy distance from the base less the mean of the others', in units of
            the mean distance of a stratum's answers; NaN where it is left out.
    """

    p: Floats
    values: Floats


def farthest_test(
    distances: Sequence[ArrayLike],
    names: Sequence[ArrayLike],
    *,
    arms: int = 3,
    redraws: int = REDRAWS,
    seed: Seed = 0,
) -> FarthestTest:
    """Test which of several arms lead away from a base, by permuting their names within strata.

    The distances from the base sum to zero once their mean is taken off, so that the test asks for one direction only:
    two-sided, it would find every other arm where one leads away.

    Args:
        distances: for each stratum, shape (answers, answers), symmetric.
        names: for each stratum, shape (answers,): -1 for answers of the base, else the number of the arm.
        arms: how many there are besides the base.
        redraws: how often names are permuted.
        seed: of the redraws.

    Raises:
        ValueError: shapes do not match, what is given are no distances, or there is no arm of that number.
    """
    rng = np.random.default_rng(seed)
    values = np.full((len(names), arms), math.nan)
    totals = np.zeros((redraws, arms))
    for place, (table, stated) in enumerate(zip(distances, names, strict=True)):
        named = np.asarray(stated)
        matrix, _ = _checked(table, named >= 0)
        if not np.isin(named, np.arange(-1, arms)).all():
            raise ValueError(f"expected names from -1 to {arms - 1}, got {', '.join(map(str, np.unique(named)))}")
        sizes = [int((named == arm).sum()) for arm in range(-1, arms)]
        if min(sizes) < 2:
            continue
        matrix = _scaled(matrix)
        base, others = np.flatnonzero(named < 0), np.flatnonzero(named >= 0)
        others = others[np.argsort(named[others], kind="stable")]
        inner, towards = matrix[np.ix_(others, others)], matrix[np.ix_(base, others)].mean(axis=0)
        orders = np.concatenate(
            [np.arange(len(others))[None], rng.permuted(np.tile(np.arange(len(others)), (redraws, 1)), axis=1)]
        )
        far = np.empty((len(orders), arms))
        start = 0
        for arm, size in enumerate(sizes[1:]):
            own = orders[:, start : start + size]
            start += size
            within = inner[own[:, :, None], own[:, None, :]].sum(axis=(1, 2)) / (size * (size - 1))
            far[:, arm] = 2 * towards[own].mean(axis=1) - within
        # What is above the mean of all is (arms - 1) / arms of what is above the mean of the others.
        excess = (far - far.mean(axis=1, keepdims=True)) * arms / (arms - 1)
        values[place], totals = excess[0], totals + excess[1:]
    known = ~np.isnan(values).any(axis=1)
    if not known.any():
        return FarthestTest(np.full(arms, math.nan), values)
    observed = values[known].sum(axis=0)
    extreme = (totals >= observed - _ROUNDING * np.abs(values[known]).sum()).sum(axis=0)
    return FarthestTest((1 + extreme) / (1 + redraws), values)
