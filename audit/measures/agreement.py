"""Agreement of detected codes with reference codes, as functions of a table of counts.

A table has the shape (..., codes, codes): entry [i, j] counts the items whose true code is the i-th and which were
found to have the j-th. Counts may be weighted. Leading axes, such as bootstrap replicates, stay. What is undefined, by
a denominator of zero, is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from audit.measures.bootstrap import UNKNOWN, Interval

Counts = NDArray[np.float64]


def confusion(
    truth: Sequence[Hashable],
    found: Sequence[Hashable],
    codes: Sequence[Hashable],
    weights: Sequence[float] | None = None,
) -> Counts:
    """Count pairs of codes.

    Args:
        truth: the true code of each item.
        found: the code that was found for it.
        codes: all codes there are, in the order of the table.
        weights: what each item counts for; one, if not given.

    Returns:
        Shape (codes, codes).

    Raises:
        KeyError: a code that is none of `codes`.
        ValueError: lengths differ.
    """
    places = {code: place for place, code in enumerate(codes)}
    table = np.zeros((len(codes), len(codes)))
    for true, other, weight in zip(truth, found, weights or [1.0] * len(truth), strict=True):
        table[places[true], places[other]] += weight
    return table


def against_rest(tables: NDArray[Any], code: int) -> Counts:
    """Merge all codes but one: shape (..., 2, 2) with this code first, so [[tp, fn], [fp, tn]]."""
    counts = np.asarray(tables, dtype=float)
    hits = counts[..., code, code]
    misses = counts[..., code, :].sum(-1) - hits
    false_alarms = counts[..., :, code].sum(-1) - hits
    rest = counts.sum((-2, -1)) - hits - misses - false_alarms
    return np.stack([np.stack([hits, misses], -1), np.stack([false_alarms, rest], -1)], -2)


def precision(tables: NDArray[Any]) -> Counts:
    """Of the items that were found to have the first code, the share that has it: tp / (tp + fp)."""
    return _ratio(tables[..., 0, 0], tables[..., :, 0].sum(-1))


def recall(tables: NDArray[Any]) -> Counts:
    """Of the items that have the first code, the share that was found to: tp / (tp + fn)."""
    return _ratio(tables[..., 0, 0], tables[..., 0, :].sum(-1))


def f1(tables: NDArray[Any]) -> Counts:
    """Harmonic mean of precision and recall of the first code: 2 tp / (2 tp + fp + fn)."""
    return _ratio(2 * tables[..., 0, 0], tables[..., 0, :].sum(-1) + tables[..., :, 0].sum(-1))


def accuracy(tables: NDArray[Any]) -> Counts:
    """Share of items whose code was found."""
    return _ratio(np.trace(tables, axis1=-2, axis2=-1), tables.sum((-2, -1)))


def kappa(tables: NDArray[Any]) -> Counts:
    """Cohen's kappa: agreement beyond chance, as a share of what is possible beyond chance.

    J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960).
    Undefined where both sides give all items one and the same code.
    """
    rows, columns = tables.sum(-1), tables.sum(-2)
    total = rows.sum(-1)
    # In counts and not in shares: with whole numbers, agreement by chance is then exactly 1 where it is.
    expected = (rows * columns).sum(-1)
    return _ratio(total * np.trace(tables, axis1=-2, axis2=-1) - expected, total**2 - expected)


def kappa_interval(table: NDArray[Any], level: float = 0.95) -> Interval:
    """Kappa give or take its large-sample standard error, within -1 and 1; NaN where this has no width.

    J. L. Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted kappa", Psychological
    Bulletin 72 (1969), equation 13, for independent items.
    """
    from statsmodels.stats.inter_rater import cohens_kappa

    estimate = float(kappa(table))
    if math.isnan(estimate):
        return UNKNOWN
    with np.errstate(divide="ignore", invalid="ignore"):
        error = float(cohens_kappa(table).std_kappa)
    # What rounding leaves of an error of zero; a true one as small as this would take 10^12 items.
    if not error > 1e-6:
        return UNKNOWN
    reach = float(ndtri((1 + level) / 2)) * error
    return Interval(max(-1.0, estimate - reach), min(1.0, estimate + reach))


def wilson(successes: float, trials: float, level: float = 0.95) -> Interval:
    """Wilson's score interval of a proportion of independent trials.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
    Statistical Association 22 (1927).

    Raises:
        ValueError: successes lie outside 0 and the number of trials.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if not trials:
        return UNKNOWN
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(successes, trials, 1 - level, method="wilson")
    return Interval(float(low) if successes else 0.0, float(high) if successes < trials else 1.0)


def f1_interval(table: NDArray[Any], level: float = 0.95) -> Interval:
    """Wilson's interval for F1, of independent items.

    F1 = 2J / (1 + J) grows with J = tp / (tp + fp + fn), which is a proportion, so its interval carries over.

    Args:
        table: counts of shape (2, 2), as `against_rest` gives them.
        level: coverage that is aimed at.
    """
    hits = float(table[0, 0])
    low, high = wilson(hits, hits + float(table[0, 1]) + float(table[1, 0]), level)
    return Interval(2 * low / (1 + low), 2 * high / (1 + high))


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Counts:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.true_divide(part, np.where(np.equal(whole, 0), np.nan, whole)))
