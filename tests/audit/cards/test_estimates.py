"""Means over units: against SciPy, hand calculations, and how often intervals cover the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit.cards.estimates import estimate


def values(means, answers=1, env="a"):
    return {number: (env, mean, answers) for number, mean in enumerate(means)}


def test_a_mean_has_students_interval_over_units():
    drawn = np.random.default_rng(0).normal(size=20)
    found = estimate(values(drawn), "mean")
    expected = stats.ttest_1samp(drawn, 0).confidence_interval()
    assert found.value == pytest.approx(drawn.mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.units, found.answers) == (20, 20)


def test_a_share_that_all_units_have_or_lack_counts_each_unit_once():
    """Clopper and Pearson with no hit in 20: 1 - 0.025^(1/20) = 0.168, however many answers each unit has."""
    for answers in (1, 50):
        none, all_ = (estimate(values([share] * 20, answers), "share") for share in (0.0, 1.0))
        assert (none.low, none.high) == pytest.approx((0, 1 - 0.025 ** (1 / 20)))
        assert (all_.low, all_.high) == pytest.approx((0.025 ** (1 / 20), 1))


def test_a_share_of_independent_answers_is_nearly_the_binomial_one():
    """One answer each: the interval is that of Clopper and Pearson, a little wider for Student's t in place of z."""
    hits = [1.0] * 12 + [0.0] * 88
    found = estimate(values(hits), "share")
    exact = stats.binomtest(12, 100).proportion_ci(method="exact")
    assert found.low == pytest.approx(exact.low, abs=0.005)
    assert found.high == pytest.approx(exact.high, abs=0.008)
    assert found.low <= exact.low
    assert found.high >= exact.high


def test_means_without_one_task_by_hand():
    """Tasks a (0, 0), b (1), c (0.5, 0.5): without a 2/3, without b 1/4, without c 1/3."""
    found = estimate({0: ("a", 0, 1), 1: ("a", 0, 1), 2: ("b", 1, 1), 3: ("c", 0.5, 1), 4: ("c", 0.5, 1)}, "mean")
    assert (found.without_low, found.without_high) == pytest.approx((1 / 4, 2 / 3))


def test_nothing_is_known_of_no_units_and_no_interval_of_one():
    assert math.isnan(estimate({}, "mean").value)
    one = estimate(values([0.3]), "mean")
    assert one.value == 0.3
    assert math.isnan(one.low)
    assert math.isnan(one.without_low)


def test_intervals_of_shares_cover_the_truth_where_units_differ():
    """Units whose own shares are drawn from a beta distribution of mean 0.2, three answers each: 95% or more."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        own = rng.beta(0.4, 1.6, size=72)
        found = estimate(values(rng.binomial(3, own) / 3, 3), "share")
        covered += found.low <= 0.2 <= found.high
    assert covered >= 372  # 95% less two standard errors and a half
