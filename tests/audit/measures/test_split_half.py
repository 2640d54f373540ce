"""Correlation of noisy measures: against SciPy, and on measures whose true correlation is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from audit.measures.split_half import split_half_correlation


def test_correlation_and_p_are_scipys():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(7, 2))
    y = 0.5 * x + rng.normal(size=(7, 2))
    result = split_half_correlation(x, y, redraws=20_000)
    wanted = stats.pearsonr(x.mean(axis=1), y.mean(axis=1))
    assert result.correlation == pytest.approx(wanted.statistic)
    exact = stats.permutation_test(
        (x.mean(axis=1),), lambda a: abs(np.corrcoef(a, y.mean(axis=1))[0, 1]),
        permutation_type="pairings", alternative="greater", n_resamples=np.inf,
    ).pvalue  # fmt: skip
    assert result.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))
    r = stats.pearsonr(x[:, 0], x[:, 1]).statistic
    assert result.first_reliability == pytest.approx(2 * r / (1 + r))


def test_noise_is_taken_out():
    rng = np.random.default_rng(2)
    cause, citing = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size=5_000).T
    halves = [truth[:, None] + rng.normal(0, 1.5, (5_000, 2)) for truth in (cause, citing)]
    result = split_half_correlation(*halves)
    assert result.correlation < 0.4
    assert result.first_reliability == pytest.approx(1 / (1 + 1.5**2 / 2), abs=0.04)
    assert result.disattenuated == pytest.approx(0.7, abs=0.06)
    assert result.p == 1 / 5_000


def test_units_that_miss_a_half_are_left_out():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    without = split_half_correlation(x[1:], y[1:])
    x[0, 1] = np.nan
    assert split_half_correlation(x, y) == pytest.approx(without, nan_ok=True)


@pytest.mark.parametrize("first", [np.ones((5, 2)), np.empty((0, 2)), [[0, 1], [1, 0]]])
def test_what_does_not_vary_or_is_too_little_gives_nothing(first):
    second = np.arange(2 * len(first)).reshape(-1, 2)
    result = split_half_correlation(first, second)
    assert np.isnan(result[:5]).all()
    assert result.units == len(first)


def test_halves_that_contradict_have_no_disattenuated_correlation():
    halves = [[0, 3], [1, 2], [2, 1.5], [3, 0]]
    result = split_half_correlation(halves, [[0, 0], [1, 1], [2, 1], [3, 4]])
    assert result.first_reliability < 0
    assert np.isnan(result.disattenuated)


@pytest.mark.parametrize("second", [[[1, 2]], [[1, 2], [3, np.inf]], [1, 2]])
def test_what_makes_no_sense_is_refused(second):
    with pytest.raises(ValueError, match=r"shape|infinite"):
        split_half_correlation([[1, 2], [3, 4]], second)
