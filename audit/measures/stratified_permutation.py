"""Permutation tests of two arms whose names are permuted within strata.

If the arms do not differ, the answers of a stratum are exchangeable, whatever the strata are like and however they
depend on each other: tests are exact (Pesarin and Salmaso, "Permutation Tests for Complex Data", 2010, chapter 1).
What an arrangement of names adds to the statistic is tabulated for a whole group of strata of one shape, so that a
redraw of names is a draw of a place in the table.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Alternative = Literal["greater", "less", "two-sided"]
Seed = int | np.random.SeedSequence
Contribution = Callable[[Sequence[int], Floats], Floats]
"""Strata of one shape, and arrangements of their arms as 1 and 0, (arrangements, answers), to what each stratum adds
to the statistic under each: (strata, arrangements)."""

REDRAWS: Final = 4_999
_TABULATED: Final = 5_000
"""Arrangements of a stratum that are tabulated; where there are more, they are drawn one by one."""
AT_ONCE: Final = 4_000_000
"""Numbers of redraws that are in memory at once."""
_TIE: Final = 1e-12
"""Differences this small, relative to the size of what is summed, are rounding errors."""


class Permuted(NamedTuple):
    """A statistic that is summed over strata, as observed and after permutations.

    Attributes:
        parts: shape (strata,), what each stratum adds.
        totals: shape (redraws,), the sums after permutations.
        exact: whether `totals` are those of all permutations, each once.
    """

    parts: Floats
    totals: Floats
    exact: bool


class StratifiedDifference(NamedTuple):
    """A difference of means within strata.

    Attributes:
        difference: mean of the first arm less that of the second, averaged over strata with weights n1 n2 / (n1 + n2).
        p: of the hypothesis that the arms do not differ.
        strata: those that have answers of both arms.
    """

    difference: float
    p: float
    strata: int


def permute_within(
    first: Sequence[NDArray[np.bool_]], contribution: Contribution, *, redraws: int = REDRAWS, seed: Seed = 0
) -> Permuted:
    """Permute the names of two arms within each stratum, keeping the sizes of arms.

    Where all strata together have no more than `redraws` permutations, all are counted.

    Args:
        first: for each stratum which answers are of the first arm, shape (answers,).
        contribution: what strata add to the statistic.
        redraws: how often names are permuted.
        seed: of the redraws.
    """
    if redraws < 1:
        raise ValueError(f"expected at least one redraw, not {redraws}")
    rng = np.random.default_rng(seed)
    parts = np.array([contribution([place], arms[None].astype(float))[0, 0] for place, arms in enumerate(first)])
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, arms in enumerate(first):
        shapes[arms.size, int(arms.sum())].append(place)
    if math.prod(math.comb(*shape) ** len(places) for shape, places in shapes.items()) <= redraws:
        totals = np.zeros(1)
        for shape, places in shapes.items():
            for row in contribution(places, _arrangements(*shape)):
                totals = np.add.outer(totals, row).ravel()
        return Permuted(parts, totals, exact=True)
    totals = np.zeros(redraws)
    for (answers, size), places in shapes.items():
        if math.comb(answers, size) <= _TABULATED:
            table = contribution(places, _arrangements(answers, size))
            drawn = rng.integers(table.shape[1], size=(redraws, len(places)))
            totals += table[np.arange(len(places)), drawn].sum(axis=1)
            continue
        template = np.tile(np.arange(answers) < size, (redraws, 1)).astype(float)
        for place in places:
            totals += contribution([place], rng.permuted(template, axis=1))[0]
    return Permuted(parts, totals, exact=False)


def redrawn(redraws: int, numbers: int, draw: Callable[[int], Floats]) -> Floats:
    """Totals of redraws, made in parts: shape (redraws,).

    Args:
        redraws: how many.
        numbers: that one of them holds in memory.
        draw: makes some of them.
    """
    step = max(1, AT_ONCE // numbers)
    return np.concatenate([draw(min(step, redraws - start)) for start in range(0, redraws, step)])


def permutation_p(permuted: Permuted, *, size: float, alternative: Alternative = "two-sided") -> float:
    """The share of permutations whose statistic is as extreme as the observed one, or more.

    Where permutations are drawn, the observed one counts as one more (Phipson and Smyth, Statistical Applications in
    Genetics and Molecular Biology 9, 2010).

    Args:
        permuted: the statistic and its permutations.
        size: the magnitude of what is summed, by which rounding errors are measured.
        alternative: which values are extreme; "two-sided" means far from 0.
    """
    observed, totals = float(permuted.parts.sum()), permuted.totals
    if alternative == "two-sided":
        observed, totals = abs(observed), np.abs(totals)
    elif alternative == "less":
        observed, totals = -observed, -totals
    extreme = int(np.count_nonzero(totals >= observed - _TIE * size))
    return extreme / totals.size if permuted.exact else (1 + extreme) / (1 + totals.size)


def stratified_difference(
    values: ArrayLike,
    first: ArrayLike,
    strata: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    redraws: int = REDRAWS,
    seed: Seed = 0,
) -> StratifiedDifference:
    """Test whether two arms have the same mean, such as a rate, within strata.

    The estimate is that of Mantel and Haenszel for risk differences (Greenland and Robins, Biometrics 41, 1985); the
    test permutes the names of arms within strata.

    Args:
        values: shape (answers,), the outcome; 0 and 1 for a rate.
        first: shape (answers,), whether an answer is of the first arm.
        strata: shape (answers,), which stratum it is of. A stratum without one of the arms is left out.
        alternative: "greater" means that the first arm's mean is.
        redraws: how often names are permuted, where not all permutations are counted.
        seed: of the redraws.

    Returns:
        NaN where no stratum has both arms.

    Raises:
        ValueError: lengths differ, or a value is not finite.
    """
    outcome, arms, places = np.asarray(values, dtype=float), np.asarray(first, dtype=bool), np.asarray(strata)
    if outcome.ndim != 1 or not outcome.shape == arms.shape == places.shape:
        raise ValueError(f"expected three lists of one length, got {outcome.shape}, {arms.shape} and {places.shape}")
    if not np.isfinite(outcome).all():
        raise ValueError("a value is not a finite number")
    members = groups(places)
    members = [each for each in members if 0 < arms[each].sum() < len(each)]
    if not members:
        return StratifiedDifference(math.nan, math.nan, 0)
    centred = [outcome[each] - outcome[each].mean() for each in members]
    names = [arms[each] for each in members]
    permuted = permute_within(
        names, lambda chosen, z: np.stack([centred[place] for place in chosen]) @ z.T, redraws=redraws, seed=seed
    )
    weight = sum(z.sum() * (~z).sum() / z.size for z in names)
    p = permutation_p(permuted, size=float(np.abs(outcome).sum()), alternative=alternative)
    return StratifiedDifference(float(permuted.parts.sum() / weight), p, len(members))


def groups(labels: NDArray[Any]) -> list[NDArray[np.intp]]:
    """The places of each label, in the order of labels.

    Args:
        labels: shape (n,).
    """
    inverse = np.unique(labels, return_inverse=True)[1]
    order = np.argsort(inverse, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(inverse[order])) + 1) if labels.size else []


@functools.lru_cache(maxsize=64)
def _arrangements(answers: int, size: int) -> Floats:
    """All ways to name `size` of some answers the first arm: 1 and 0, shape (ways, answers)."""
    ways = np.zeros((math.comb(answers, size), answers))
    for row, chosen in enumerate(combinations(range(answers), size)):
        ways[row, list(chosen)] = 1
    return ways
