"""Ratios of rates against hand calculations, SciPy and statsmodels, and their intervals against known truths."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import contingency

from audit.measures.association import associate, odds_ratio, risk_ratio
from audit.measures.logistic import robust_odds


def test_the_textbook_table():
    # 30 of 100 exposed and 10 of 100 unexposed: risks 0.3 and 0.1, odds 3/7 and 1/9.
    table = [30, 10, 70, 90]
    assert risk_ratio(table) == pytest.approx(3)
    assert odds_ratio(table) == pytest.approx(27 / 7)


@pytest.mark.parametrize(
    ("table", "risk", "odds"),
    [
        ([0, 0, 0, 0], math.nan, math.nan),
        ([5, 0, 5, 0], math.nan, math.nan),  # none unexposed
        ([0, 0, 5, 5], math.nan, math.nan),  # no outcome at all
        ([5, 0, 5, 5], math.inf, math.inf),  # among the exposed only
        ([0, 5, 5, 5], 0, 0),
        ([5, 5, 0, 5], 2, math.inf),  # every exposed one
    ],
)
def test_what_is_not_defined(table, risk, odds):
    assert float(risk_ratio(table)) == pytest.approx(risk, nan_ok=True)
    assert float(odds_ratio(table)) == pytest.approx(odds, nan_ok=True)


@given(st.lists(st.integers(1, 200), min_size=4, max_size=4))
def test_as_scipy_has_them(table):
    a, b, c, d = table
    relative = contingency.relative_risk(a, a + c, b, b + d)
    assert float(risk_ratio(table)) == pytest.approx(relative.relative_risk)
    odds = contingency.odds_ratio([[a, b], [c, d]], kind="sample")
    assert float(odds_ratio(table)) == pytest.approx(odds.statistic)


def expanded(clusters):
    """One row per observation: outcome, exposure, cluster."""
    rows = []
    for group, (a, b, c, d) in enumerate(clusters):
        rows += [(1, 1, group)] * a + [(1, 0, group)] * b + [(0, 1, group)] * c + [(0, 0, group)] * d
    return np.array(rows).T


@settings(max_examples=30)
@given(st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=3, max_size=12))
def test_robust_regression_is_that_of_statsmodels(clusters):
    clusters = [cluster for cluster in clusters if sum(cluster)]
    found = robust_odds(clusters) if len(clusters) > 1 else None
    if found is None or not np.sum(clusters, axis=0).all() or math.isnan(found.p):
        return
    outcome, exposure, groups = expanded(clusters)
    fit = sm.Logit(outcome, sm.add_constant(exposure)).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": groups}, use_t=True, tol=1e-12
    )
    assert math.log(found.odds_ratio.value) == pytest.approx(fit.params[1], abs=1e-6)
    assert np.log(found.odds_ratio[1:]) == pytest.approx(fit.conf_int()[1], rel=1e-5, abs=1e-6)
    assert found.p == pytest.approx(fit.pvalues[1], rel=1e-4, abs=1e-9)


def test_one_cluster_and_equal_clusters_have_no_interval():
    alone = associate([[3, 1, 2, 4]])
    assert alone.risk_ratio.value == pytest.approx(3 / 5 * 5)
    assert all(math.isnan(value) for ratio in alone for value in ratio[1:])
    assert math.isnan(robust_odds([[3, 1, 2, 4]]).p)
    equal = associate([[3, 1, 2, 4]] * 5)
    assert equal.risk_ratio.low == equal.risk_ratio.high == equal.risk_ratio.value


@pytest.mark.parametrize("clusters", [[1, 2, 3, 4], [[1, 2, 3]], [[1, 2, 3, -4]]])
def test_what_is_no_table_is_refused(clusters):
    for function in (associate, robust_odds):
        with pytest.raises(ValueError, match="count"):
            function(clusters)


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "bootstrap", "robust"), [(10, 0.87, 0.92), (40, 0.92, 0.93)])
def test_intervals_hold_a_known_odds_ratio(runs, bootstrap, robust):
    """Runs differ in how often they regress and how often they cite; citing doubles the odds in each."""
    rng = np.random.default_rng(5)
    replicates, revisions = 300, 60
    held = np.zeros(2)
    # The marginal odds ratio, over all runs, is what is estimated; a very large sample knows it.
    truth = float(odds_ratio(simulated(rng, 100_000, revisions).sum(axis=0)))
    for _ in range(replicates):
        clusters = simulated(rng, runs, revisions)
        ratios = associate(clusters, resamples=999).odds_ratio, robust_odds(clusters).odds_ratio
        for place, ratio in enumerate(ratios):
            held[place] += ratio.low <= truth <= ratio.high
    assert held[0] / replicates >= bootstrap
    assert held[1] / replicates >= robust
    assert (held / replicates <= 0.985).all()


def simulated(rng, runs, revisions):
    citing = rng.binomial(revisions, rng.beta(6, 4, size=runs))
    base = rng.normal(0, 0.7, size=runs)
    risk = 1 / (1 + np.exp(-base)), 1 / (1 + np.exp(-base - math.log(2)))
    a, b = rng.binomial(citing, risk[1]), rng.binomial(revisions - citing, risk[0])
    return np.stack([a, b, citing - a, revisions - citing - b], axis=1)
