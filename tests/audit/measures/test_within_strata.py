"""Slopes within strata: by hand, against dummy variables, against all permutations, and their size and power."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest

from audit.measures import within_strata
from audit.measures.within_strata import within_effect, within_effects


def test_by_hand():
    # The first stratum's item is 3 above the mean of the others, the second's is 1 below.
    found = within_effect([4, 1, 1, 0, 1, 1], [1, 0, 0, 1, 0, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    assert found.effect == pytest.approx(1)
    assert (found.strata, found.observations) == (2, 6)


def test_the_p_value_is_that_of_all_permutations():
    y, x = [[4.0, 1, 2], [0.0, 3, 7]], [[0.0, 0.5, 1], [0.0, 0.5, 1]]
    both = [
        sum(np.dot(np.array(x[place]) - 0.5, arranged) for place, arranged in enumerate(each))
        for each in product(*(list(permutations(values)) for values in y))
    ]
    observed = sum(np.dot(np.array(a) - 0.5, b) for a, b in zip(x, y, strict=True))
    share = np.mean(np.abs(both) >= abs(observed) - 1e-9)
    found = within_effect(np.ravel(y), np.ravel(x), [0, 0, 0, 1, 1, 1], [0] * 6, redraws=20_000)
    assert found.p == pytest.approx(share, abs=0.01)
    assert math.isnan(found.low)  # one cluster


@pytest.mark.parametrize("size", [6, 7])
def test_small_and_large_strata_are_permuted_alike(size):
    # The sum that is tested is normal in large samples: its p-value is that of its mean and variance over permutations.
    rng = np.random.default_rng(size)
    strata, x = np.repeat(np.arange(60), size), np.tile(np.arange(size) == 0, 60).astype(float)
    y = rng.normal(size=60 * size) + 0.2 * x
    rows = y.reshape(60, size)
    gaps = rows[:, 0] - rows.mean(axis=1)
    expected = math.erfc(abs(gaps.sum()) / math.sqrt(2 * rows.var(axis=1).sum()))
    assert within_effect(y, x, strata, strata).p == pytest.approx(expected, abs=0.02)


def test_it_is_least_squares_with_an_intercept_for_each_stratum():
    rng = np.random.default_rng(1)
    strata = np.repeat(np.arange(30), 4)
    x, z = rng.normal(size=120), rng.normal(size=(120, 2))
    y = 0.3 * x + z @ [1.0, -2.0] + strata + rng.normal(size=120)
    design = np.column_stack([x, z, strata[:, None] == np.arange(30)])
    expected = np.linalg.lstsq(design, y, rcond=None)[0][0]
    found = within_effect(y, x, strata, strata // 5, covariates=z, redraws=99)
    assert found.effect == pytest.approx(expected)
    assert found.low < found.effect < found.high


def test_strata_without_contrast_are_left_out():
    y, x, strata = [1, 2, 3, 4, 5, 6], [0, 1, 1, 1, 0, math.nan], [0, 0, 1, 1, 2, 2]
    found = within_effect(y, x, strata, strata, redraws=99)
    assert (found.effect, found.strata, found.observations) == (pytest.approx(1), 1, 2)
    nothing = within_effect([1, 2], [1, 1], [0, 0], [0, 0])
    assert math.isnan(nothing.p)
    assert nothing.strata == 0


def test_nothing_is_left_of_a_regressor_that_covariates_explain():
    x = np.tile([0.0, 0.5, 1.0], 10)
    found = within_effect(
        np.arange(30), x, np.repeat(np.arange(10), 3), np.zeros(30), covariates=(1 - 2 * x)[:, None], redraws=99
    )
    assert math.isnan(found.effect)
    assert math.isnan(found.p)
    assert found.strata == 10


def test_several_regressors_have_the_redraws_of_each(monkeypatch):
    """Drawn once for all that vary in strata of the same sizes."""
    rng = np.random.default_rng(3)
    strata = np.repeat(np.arange(40), rng.choice([2, 3, 3, 9], size=40))
    y, z = rng.integers(0, 2, size=len(strata)), rng.normal(size=(len(strata), 1))
    unknown = np.where(strata == 7, math.nan, rng.normal(size=len(strata)))
    regressors = [(rng.normal(size=len(strata)), z), (unknown, None), (rng.normal(size=len(strata)), None)]
    expected = [within_effect(y, x, strata, strata // 9, covariates=w, redraws=99) for x, w in regressors]
    seeded = []
    make = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed: seeded.append(seed) or make(seed))
    monkeypatch.setattr(within_strata, "_IN_CACHE", 100)  # in several steps
    monkeypatch.setattr(within_strata, "_AT_ONCE", 100)
    assert within_effects(y, regressors, strata, strata // 9, redraws=99) == expected
    assert seeded == [0, 0]


@pytest.mark.parametrize(
    ("y", "x", "strata"), [([1, math.nan], [0, 1], [0, 0]), ([1, 2, 3], [0, 1], [0, 0]), ([[1], [2]], [0, 1], [0, 0])]
)
def test_shapes_and_values_are_checked(y, x, strata):
    with pytest.raises(ValueError, match=r"expected y|not a finite"):
        within_effect(y, x, strata, strata)


def _rejections(effect, *, covariate, sets=60):
    """The share of data sets with p <= 0.05: heavy-tailed errors, strata of three, four dependent clusters."""
    rejected = 0
    for number in range(sets):
        rng = np.random.default_rng([number, 7])
        strata = np.repeat(np.arange(40), 3)
        clusters = strata // 10
        x = np.tile([1.0, 0, 0], 40)
        z = rng.normal(size=120) + x  # goes with the regressor
        y = effect * x + 2 * z + 0.3 * rng.standard_t(3, size=120) + rng.normal(size=4)[clusters]
        adjusted = z[:, None] if covariate else None
        rejected += within_effect(y, x, strata, clusters, covariates=adjusted, redraws=199).p <= 0.05
    return rejected / sets


def test_size_and_power():
    assert _rejections(0.0, covariate=True, sets=200) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)
    assert _rejections(0.4, covariate=True) >= 0.8
    assert _rejections(0.0, covariate=False) >= 0.95  # the confounder alone
