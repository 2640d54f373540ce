"""The jump at a cut-off against statsmodels, a hand-worked case and planted truths."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm

from audit.measures.discontinuity import FEWEST, regression_discontinuity, rule_of_thumb


def drawn(seed, n=400, clusters=20, size=-2.0):
    """Outcomes with slopes, a jump, and errors that clusters share."""
    rng = np.random.default_rng(seed)
    x, run = rng.uniform(-1, 1, n), rng.integers(clusters, size=n)
    y = 3 + x + (x >= 0) * (size + 0.5 * x) + rng.normal(0, 0.3, clusters)[run] + rng.normal(0, 0.5, n)
    return y, x, run


def test_the_estimate_is_that_of_weighted_least_squares():
    y, x, run = drawn(1)
    found = regression_discontinuity(y, x, run, bandwidth=0.6)
    near = np.abs(x) < 0.6
    above = (x >= 0).astype(float)
    design = np.column_stack([np.ones_like(x), above, x, above * x])[near]
    fit = sm.WLS(y[near], design, weights=1 - np.abs(x[near]) / 0.6)
    wanted = fit.fit(cov_type="cluster", cov_kwds={"groups": run[near]})
    assert found.coefficient.estimate == pytest.approx(wanted.params[1], rel=1e-10)
    # CR2 is not CR1, and near it for twenty clusters.
    assert found.coefficient.se == pytest.approx(wanted.bse[1], rel=0.15)
    assert 3 < found.coefficient.df < 20
    assert (found.below, found.above) == (int((near & (x < 0)).sum()), int((near & (x >= 0)).sum()))


def test_lines_without_errors_give_the_jump_itself():
    x = np.linspace(-1, 1, 41)
    y = np.where(x < 0, 1 + 2 * x, 5 - 3 * x)
    found = regression_discontinuity(y, x, np.arange(41) % 4, bandwidth=0.9)
    assert found.coefficient.estimate == pytest.approx(4, abs=1e-12)


def test_the_cut_off_itself_is_above():
    x = np.array([*np.linspace(-1, -0.1, FEWEST), *np.linspace(0, 0.9, FEWEST)])
    found = regression_discontinuity(x >= 0, x, np.arange(len(x)) % 5, bandwidth=2.0)
    assert (found.below, found.above, found.coefficient.estimate) == (FEWEST, FEWEST, pytest.approx(1))


def test_a_planted_jump_is_covered_about_as_often_as_it_says_and_none_is_found_where_none_is():
    found = [regression_discontinuity(*drawn(seed)).coefficient for seed in range(100)]
    assert np.mean([each.low <= -2 <= each.high for each in found]) >= 0.9
    none = [regression_discontinuity(*drawn(seed, size=0.0)).coefficient for seed in range(100)]
    assert np.mean([each.p <= 0.05 for each in none]) <= 0.09


def test_obedience_nine_times_in_ten_is_read_off():
    """A critic that leaves a policy alone with probability 0.9 at the mark, and never below it."""
    rng = np.random.default_rng(5)
    x, run = rng.uniform(-1, 1, 2000), np.arange(2000) % 20
    unchanged = (x >= 0) & (rng.random(2000) < 0.9)
    found = regression_discontinuity(unchanged, x, run).coefficient
    assert found.estimate == pytest.approx(0.9, abs=0.06)
    assert found.low <= 0.9 <= found.high


@pytest.mark.parametrize(
    ("x", "clusters", "why"),
    [
        ([-0.5] * 9 + [*np.linspace(0, 0.9, 30)], 4, "9 observations below the cut-off within the bandwidth"),
        ([*np.linspace(-0.9, -0.1, 30)], 4, "0 observations at or above the cut-off"),
        ([*np.linspace(-0.9, -0.1, 30), *[0.5] * 30], 4, "1 different value at or above the cut-off"),
        ([*np.linspace(-0.9, -0.1, 30), *[0.5, 0.6] * 15], 4, "2 different values at or above the cut-off"),
        ([*np.linspace(-0.9, 0.9, 60)], 1, "all are of one cluster"),
    ],
)
def test_too_little_on_a_side_is_stated_instead_of_a_number(x, clusters, why):
    found = regression_discontinuity(np.arange(len(x)), x, np.arange(len(x)) % clusters, bandwidth=1.0)
    assert found.coefficient is None
    assert why in found.why


def test_where_nothing_varies_there_is_no_interval():
    x = np.linspace(-1, 1, 60)
    found = regression_discontinuity(np.zeros(60), x, np.arange(60) % 6, bandwidth=0.9)
    assert (found.coefficient.estimate, found.why) == (0, "nothing varies")
    assert math.isnan(found.coefficient.se)


def test_the_rule_of_thumb_grows_with_spread_and_shrinks_with_number():
    values = np.random.default_rng(2).normal(0, 3, 10_000)
    assert rule_of_thumb(values) == pytest.approx(2.58 * 3 * 10_000**-0.2, rel=0.03)
    assert rule_of_thumb([5.0, 5.0]) == rule_of_thumb([5.0]) == 0


def test_arguments_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="three arrays"):
        regression_discontinuity([1.0], [1.0, 2.0], [1, 2])
    with pytest.raises(ValueError, match="not a finite number"):
        regression_discontinuity([1.0, math.nan], [1.0, 2.0], [1, 2])
    with pytest.raises(ValueError, match="bandwidth must be positive"):
        regression_discontinuity([1.0, 2.0], [1.0, 2.0], [1, 2], bandwidth=0.0)
