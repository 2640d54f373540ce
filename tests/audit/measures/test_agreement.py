"""Agreement and ratios of rates against SciPy, statsmodels, the delta method, hand calculations and known truths."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, contingency, norm

from audit.measures.agreement import (
    accuracy,
    against_rest,
    confusion,
    f1,
    f1_interval,
    kappa,
    kappa_interval,
    precision,
    recall,
    wilson,
)
from audit.measures.association import associate, odds_ratio, risk_ratio, robust_odds

# Rows are true codes, columns what was found. Of the first, 35 of 50 agree, and by chance 25: (0.7 - 0.5) / 0.5.
TABLES = {
    0.4: [[20, 5], [10, 15]],
    None: [[44, 5, 1], [7, 20, 3], [9, 5, 6]],
    5 / 11: [[7, 3], [1, 4]],
    -0.7: [[1, 9], [8, 2]],
}


@pytest.mark.parametrize("value", TABLES)
def test_kappa_by_hand_and_its_interval_by_the_delta_method(value):
    table = np.array(TABLES[value], float)
    if value is not None:
        assert kappa(table) == pytest.approx(value)
    # The gradient of kappa in the shares of cells, whose covariances are those of a multinomial draw.
    shares, step = table.ravel() / table.sum(), 1e-6
    gradient = [
        (kappa((shares + step * unit).reshape(table.shape)) - kappa((shares - step * unit).reshape(table.shape)))
        for unit in np.eye(shares.size)
    ]
    slope = np.array(gradient) / (2 * step)
    error = math.sqrt((slope**2 @ shares - (slope @ shares) ** 2) / table.sum())
    for level in (0.9, 0.95):
        reach = norm.ppf((1 + level) / 2) * error
        wanted = np.clip([kappa(table) - reach, kappa(table) + reach], -1, 1)
        assert kappa_interval(table, level) == pytest.approx(wanted, rel=1e-6)


def test_kappa_is_undefined_where_all_items_have_one_code_and_one_where_all_agree():
    one_code, all_agree = np.array([[7.0, 0], [0, 0]]), np.array([[7.0, 0], [0, 2]])
    assert math.isnan(kappa(one_code))
    assert kappa(all_agree) == 1
    # A code that is never true has a kappa of 0, whatever is found: rounding must not give this a width.
    for table in (one_code, all_agree, [[0.0, 0], [26, 74]], [[0.0, 1], [0, 0]], np.zeros((2, 2))):
        assert all(map(math.isnan, kappa_interval(np.array(table))))


def test_scores_of_a_code_against_the_rest_by_hand():
    table = np.array(TABLES[None])
    # Of the second code: 20 hits; 7 + 3 missed; 5 + 5 false alarms; 44 + 1 + 9 + 6 elsewhere.
    assert against_rest(table, 1).tolist() == [[20, 10], [10, 60]]
    first = against_rest(table, 0)
    assert first.tolist() == [[44, 6], [16, 34]]
    assert (precision(first), recall(first), f1(first)) == pytest.approx((44 / 60, 44 / 50, 88 / 110))
    assert accuracy(table) == pytest.approx(70 / 100)
    for counts, undefined in (
        ([[0, 2], [0, 3]], {precision}),
        ([[0, 0], [2, 3]], {recall}),
        ([[0, 0], [0, 3]], {precision, recall, f1}),
        ([[0, 0], [0, 0]], {precision, recall, f1, accuracy}),
    ):
        found = {each for each in (precision, recall, f1, accuracy) if math.isnan(each(np.array(counts, float)))}
        assert found == undefined, counts


def test_leading_axes_stay_and_pairs_are_counted_and_weighted():
    tables = np.random.default_rng(0).integers(0, 9, (5, 4, 3, 3)).astype(float)
    ours = against_rest(tables, 2)
    for measure, given_tables in ((accuracy, tables), (kappa, tables), (precision, ours), (recall, ours), (f1, ours)):
        assert measure(given_tables).shape == (5, 4)
        assert measure(given_tables)[2, 1] == pytest.approx(measure(given_tables[2, 1]))
    truth, found = ["a", "a", "b", "c"], ["a", "b", "b", "a"]
    assert confusion(truth, found, "abc").tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
    assert confusion(truth, found, "abc", [0.5, 2, 3, 4]).tolist() == [[0.5, 2, 0], [0, 3, 0], [4, 0, 0]]


@pytest.mark.parametrize(("successes", "trials"), [(0, 5), (1, 5), (7, 7), (33, 100), (1, 1)])
def test_wilsons_interval_is_scipys_and_ends_where_nothing_is_beyond(successes, trials):
    for level in (0.9, 0.95):
        theirs = binomtest(successes, trials).proportion_ci(level, method="wilson")
        assert wilson(successes, trials, level) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert (wilson(successes, trials).low == 0) == (successes == 0)
    assert (wilson(successes, trials).high == 1) == (successes == trials)
    assert all(map(math.isnan, wilson(0, 0)))


def test_the_interval_of_f1_by_hand_and_as_often_right_as_it_says():
    # J = 8 / (8 + 1 + 3) = 2/3, and F1 = 16 / 20 = 0.8 = 2J / (1 + J).
    table = np.array([[8.0, 1], [3, 9]])
    low, high = binomtest(8, 12).proportion_ci(method="wilson")
    assert f1_interval(table) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))
    # Independent items: tp, fn, fp with chances 0.4, 0.1, 0.1, so that F1 is 0.8.
    draws = np.random.default_rng(3).multinomial(80, [0.4, 0.1, 0.1, 0.4], 2000).reshape(-1, 2, 2)
    held = [low <= 0.8 <= high for low, high in (f1_interval(table) for table in draws)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(
    ("table", "risk", "odds"),
    [
        ([30, 10, 70, 90], 3, 27 / 7),  # risks 0.3 and 0.1, odds 3/7 and 1/9
        ([0, 0, 0, 0], math.nan, math.nan),
        ([5, 0, 5, 0], math.nan, math.nan),  # none unexposed
        ([0, 0, 5, 5], math.nan, math.nan),  # no outcome at all
        ([5, 0, 5, 5], math.inf, math.inf),  # among the exposed only
        ([0, 5, 5, 5], 0, 0),
        ([5, 5, 0, 5], 2, math.inf),  # every exposed one
    ],
)
def test_ratios_by_hand(table, risk, odds):
    assert float(risk_ratio(table)) == pytest.approx(risk, nan_ok=True)
    assert float(odds_ratio(table)) == pytest.approx(odds, nan_ok=True)
    if math.isfinite(risk) and min(table):
        a, b, c, d = table
        assert contingency.relative_risk(a, a + c, b, b + d).relative_risk == pytest.approx(risk)
        assert contingency.odds_ratio([[a, b], [c, d]], kind="sample").statistic == pytest.approx(odds)


@settings(max_examples=30)
@given(st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=3, max_size=12))
def test_robust_regression_is_that_of_statsmodels(clusters):
    clusters = [cluster for cluster in clusters if sum(cluster)]
    found = robust_odds(clusters) if len(clusters) > 1 else None
    if found is None or not np.sum(clusters, axis=0).all() or math.isnan(found.p):
        return
    rows = [
        each
        for group, (a, b, c, d) in enumerate(clusters)
        for each in [(1, 1, group)] * a + [(1, 0, group)] * b + [(0, 1, group)] * c + [(0, 0, group)] * d
    ]
    outcome, exposure, groups = np.array(rows).T
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
        held += [ratio.low <= truth <= ratio.high for ratio in ratios]
    assert (held / replicates >= (bootstrap, robust)).all()
    assert (held / replicates <= 0.985).all()


def simulated(rng, runs, revisions):
    citing = rng.binomial(revisions, rng.beta(6, 4, size=runs))
    base = rng.normal(0, 0.7, size=runs)
    risk = 1 / (1 + np.exp(-base)), 1 / (1 + np.exp(-base - math.log(2)))
    a, b = rng.binomial(citing, risk[1]), rng.binomial(revisions - citing, risk[0])
    return np.stack([a, b, citing - a, revisions - citing - b], axis=1)
