"""CR2 and its degrees of freedom: against closed forms, statsmodels' HC2, and the definition written out."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import linalg, stats

from audit.measures.cluster_robust import cluster_robust, clustered_mean


def by_definition(y, x, clusters):
    """Standard errors and degrees of freedom with n x n matrices: Pustejovsky and Tipton (2018), equations 5 and 10."""
    n, k = x.shape
    bread = np.linalg.inv(x.T @ x)
    hat = np.eye(n) - x @ bread @ x.T
    residuals = hat @ y
    labels = np.unique(clusters)
    adjust = {}
    for label in labels:
        own = np.flatnonzero(clusters == label)
        adjust[label] = (own, linalg.fractional_matrix_power(hat[np.ix_(own, own)], -0.5).real)
    variance = np.zeros((k, k))
    for own, a in adjust.values():
        score = x[own].T @ a @ residuals[own]
        variance += np.outer(bread @ score, bread @ score)
    df = []
    for c in range(k):
        g = np.stack([hat[own].T @ a @ x[own] @ bread[:, c] for own, a in adjust.values()], axis=1)
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


def test_clusters_of_equal_size_give_the_t_test_of_their_means():
    rng = np.random.default_rng(2)
    values = rng.normal(0.4, 1, size=(6, 5)) + rng.normal(size=(6, 1))
    found = clustered_mean(values.ravel(), np.repeat(list("abcdef"), 5))
    wanted = stats.ttest_1samp(values.mean(axis=1), 0)
    assert found.df == pytest.approx(5)
    assert found.p == pytest.approx(wanted.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(wanted.confidence_interval()))


def test_clusters_that_count_equally_give_it_whatever_their_size():
    rng = np.random.default_rng(3)
    sizes = np.array([2, 7, 3, 11])
    clusters = np.repeat(range(4), sizes)
    values = rng.normal(size=23)
    found = clustered_mean(values, clusters, weights=1 / sizes[clusters])
    means = [values[clusters == c].mean() for c in range(4)]
    assert found.estimate == pytest.approx(np.mean(means))
    assert found.se == pytest.approx(stats.sem(means))
    assert found.df == pytest.approx(3)


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
    rng = np.random.default_rng(5)
    clusters = np.repeat(range(5), 4)
    x = np.column_stack([np.ones(20), clusters == 0])
    found = cluster_robust(rng.normal(size=20), x, clusters)
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
    assert np.isnan(clustered_mean([], [])).all()
    with_unknown = clustered_mean([1, np.nan, 2, 3, 5], [0, 0, 0, 1, 1], weights=[1, 1, 2, 1, 1])
    assert with_unknown == clustered_mean([1, 2, 3, 5], [0, 0, 1, 1], weights=[1, 2, 1, 1])


@pytest.mark.parametrize(
    ("y", "x", "weights", "message"),
    [
        ([1, 2, 3], [[1], [1]], None, "expected"),
        ([1, np.inf, 3], [[1], [1], [1]], None, "finite"),
        ([1, 2, 3], [[1, 1], [1, 1], [1, 1]], None, "depend"),
        ([1, 2, 3], [[1], [1], [1]], [1, 0, 1], "weight"),
    ],
)
def test_what_makes_no_sense_is_refused(y, x, weights, message):
    with pytest.raises(ValueError, match=message):
        cluster_robust(y, x, [0, 1, 2], weights=weights)
