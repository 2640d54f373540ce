"""Clustered errors, jumps, slopes within strata: closed forms, statsmodels, definitions written out, planted truths."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import linalg, stats

from audit.measures import within_strata
from audit.measures.cluster_robust import cluster_robust, clustered_mean
from audit.measures.within_strata import within_effects


def within_effect(y, x, strata, clusters, covariates=None, redraws=4999):
    """Of one regressor."""
    [found] = within_effects(y, [(x, covariates)], strata, clusters, redraws=redraws)
    return found


def by_definition(y, x, clusters):
    """Standard errors and degrees of freedom with n x n matrices: Pustejovsky and Tipton (2018), equations 5 and 10."""
    n, k = x.shape
    bread = np.linalg.inv(x.T @ x)
    hat = np.eye(n) - x @ bread @ x.T
    residuals = hat @ y
    adjust = []
    for label in np.unique(clusters):
        own = np.flatnonzero(clusters == label)
        adjust.append((own, linalg.fractional_matrix_power(hat[np.ix_(own, own)], -0.5).real))
    variance = np.zeros((k, k))
    for own, a in adjust:
        score = x[own].T @ a @ residuals[own]
        variance += np.outer(bread @ score, bread @ score)
    df = []
    for c in range(k):
        g = np.stack([hat[own].T @ a @ x[own] @ bread[:, c] for own, a in adjust], axis=1)
        eigen = np.linalg.eigvalsh(g.T @ g)
        df.append(eigen.sum() ** 2 / (eigen**2).sum())
    return np.sqrt(np.diagonal(variance)), np.array(df)


def test_errors_and_degrees_of_freedom_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    clusters = np.repeat(range(7), [3, 9, 4, 5, 12, 6, 3])
    x = np.column_stack([np.ones(42), rng.normal(size=42) + rng.normal(size=7)[clusters], rng.integers(2, size=42)])
    y = x @ [1.0, 0.5, -1.0] + rng.normal(size=7)[clusters] + rng.normal(size=42)
    found = cluster_robust(y, x, clusters)
    errors, df = by_definition(y, x, clusters)
    assert [each.estimate for each in found] == pytest.approx(np.linalg.lstsq(x, y)[0])
    assert [each.se for each in found] == pytest.approx(errors)
    assert [each.df for each in found] == pytest.approx(df)
    estimate, se, freedom, low, high, p = found[1]
    assert p == pytest.approx(2 * stats.t(freedom).sf(abs(estimate / se)))
    assert (low, high) == pytest.approx(stats.t(freedom, estimate, se).interval(0.95))


@pytest.mark.parametrize("sizes", [[5] * 6, [2, 7, 3, 11]])
def test_clusters_that_count_equally_give_the_t_test_of_their_means(sizes):
    rng = np.random.default_rng(len(sizes))
    clusters = np.repeat(range(len(sizes)), sizes)
    values = 0.4 + rng.normal(size=sum(sizes)) + rng.normal(size=len(sizes))[clusters]
    weights = None if len(set(sizes)) == 1 else 1 / np.array(sizes)[clusters]
    found = clustered_mean(values, clusters, weights=weights)
    means = [values[clusters == cluster].mean() for cluster in range(len(sizes))]
    wanted = stats.ttest_1samp(means, 0)
    assert (found.df, found.se) == pytest.approx((len(sizes) - 1, stats.sem(means)))
    assert (found.estimate, found.p) == pytest.approx((np.mean(means), wanted.pvalue))
    assert (found.low, found.high) == pytest.approx(tuple(wanted.confidence_interval()))


def test_single_observations_give_hc2_and_imbens_and_kolesars_degrees_of_freedom():
    # Two groups, one of them small: section II of Imbens and Kolesár has the degrees of freedom in closed form.
    rng = np.random.default_rng(4)
    n1, n0 = 3, 27
    x = np.column_stack([np.ones(30), np.arange(30) < n1])
    y = rng.normal(size=30)
    found = cluster_robust(y, x, range(30))[1]
    assert found.se == pytest.approx(sm.OLS(y, x).fit().HC2_se[1])
    wanted = (n0 + n1) ** 2 * (n0 - 1) * (n1 - 1) / (n1**2 * (n1 - 1) + n0**2 * (n0 - 1))
    assert found.df == pytest.approx(wanted)


def test_clusters_that_determine_a_regressor_are_no_error():
    # A dummy of the first cluster: Moore and Penrose's inverse, as the adjustment of that cluster has no ordinary one.
    clusters = np.repeat(range(5), 4)
    x = np.column_stack([np.ones(20), clusters == 0])
    found = cluster_robust(np.random.default_rng(5).normal(size=20), x, clusters)
    assert np.isfinite(found[0]).all()
    assert found[0].df == pytest.approx(3)
    assert found[1].se > 0


def test_coverage_with_few_clusters_of_different_sizes():
    rng = np.random.default_rng(6)
    clusters = np.repeat(range(6), [2, 3, 4, 8, 12, 20])
    inside = 0
    for _ in range(400):
        values = rng.normal(size=49) + rng.normal(0, 0.7, size=6)[clusters]
        found = clustered_mean(values, clusters)
        inside += found.low <= 0 <= found.high
    assert inside / 400 == pytest.approx(0.95, abs=0.025)


def test_what_cannot_be_known_is_nan():
    one = clustered_mean([1.0, 2.0, 4.0], [0, 0, 0])
    assert one.estimate == pytest.approx(7 / 3)
    assert np.isnan(one[1:]).all()
    assert np.isnan(clustered_mean([0.1] * 6, [0, 0, 1, 1, 2, 2])[1:]).all()
    assert np.isnan(clustered_mean([np.nan], [0])).all()
    with_unknown = clustered_mean([1, np.nan, 2, 3, 5], [0, 0, 0, 1, 1], weights=[1, 1, 2, 1, 1])
    assert with_unknown == clustered_mean([1, 2, 3, 5], [0, 0, 1, 1], weights=[1, 2, 1, 1])


def test_a_slope_within_strata_has_the_p_value_of_all_permutations():
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


def test_strata_without_contrast_are_left_out_and_what_covariates_explain_has_no_effect():
    y, x, strata = [1, 2, 3, 4, 5, 6], [0, 1, 1, 1, 0, math.nan], [0, 0, 1, 1, 2, 2]
    found = within_effect(y, x, strata, strata, redraws=99)
    assert (found.effect, found.strata, found.observations) == (pytest.approx(1), 1, 2)
    nothing = within_effect([1, 2], [1, 1], [0, 0], [0, 0])
    assert math.isnan(nothing.p)
    assert nothing.strata == 0
    x, strata = np.tile([0.0, 0.5, 1.0], 10), np.repeat(np.arange(10), 3)
    explained = within_effect(np.arange(30), x, strata, np.zeros(30), covariates=(1 - 2 * x)[:, None], redraws=99)
    assert np.isnan([explained.effect, explained.p]).all()
    assert explained.strata == 10


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
