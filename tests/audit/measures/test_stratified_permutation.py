"""Permutation within strata: against SciPy, Fisher's exact test and an enumeration by hand."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.measures.stratified_permutation import groups, stratified_difference


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=5), st.lists(st.integers(-3, 3), min_size=2, max_size=5))
def test_one_stratum_is_scipys_permutation_test(first, second):
    values, arms = first + second, [True] * len(first) + [False] * len(second)
    for alternative in ("two-sided", "greater", "less"):
        result = stratified_difference(values, arms, np.zeros(len(values)), alternative=alternative)
        wanted = stats.permutation_test(
            (first, second), lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis), vectorized=True,
            alternative=alternative, n_resamples=np.inf,
        )  # fmt: skip
        assert result.difference == pytest.approx(np.mean(first) - np.mean(second))
        # SciPy doubles the smaller tail: where the distribution is not symmetric, it is another test.
        if alternative != "two-sided" or len(first) == len(second):
            assert result.p == pytest.approx(min(1, wanted.pvalue)), alternative


def test_rates_of_one_stratum_are_fishers_exact_test():
    values, arms = [1] * 6 + [0] * 2 + [1] * 2 + [0] * 6, [True] * 8 + [False] * 8
    wanted = stats.fisher_exact([[6, 2], [2, 6]], alternative="greater").pvalue
    drawn = stratified_difference(values, arms, [0] * 16, alternative="greater", redraws=12_000)
    assert drawn.p == pytest.approx(wanted, abs=4 * np.sqrt(wanted / 12_000))
    counted = stratified_difference(values, arms, [0] * 16, alternative="greater", redraws=13_000)  # of 12,870
    assert counted.p == pytest.approx(wanted, rel=1e-9)


def test_strata_are_permuted_each_by_itself():
    values = np.array([3, 1, 0, 1, 0, 5, 2, 2.5, 4])
    arms = np.array([1, 0, 0, 1, 0, 1, 0, 0, 1], dtype=bool)
    strata = np.array(["b", "b", "b", "a", "a", "c", "c", "c", "c"])
    sums = [
        sum(values[list(chosen)].sum() for chosen in chosen_all)
        for chosen_all in product(
            *(combinations(np.flatnonzero(strata == s), int(arms[strata == s].sum())) for s in "abc")
        )
    ]
    observed, centre = values[arms].sum(), np.mean(sums)
    wanted = np.mean(np.abs(np.array(sums) - centre) >= abs(observed - centre) - 1e-9)
    assert len(sums) == 36
    result = stratified_difference(values, arms, strata)
    assert result.p == pytest.approx(wanted)
    # Mantel and Haenszel's weights: 1 x 1 / 2, 1 x 2 / 3, 2 x 2 / 4, and differences of means 1, 2.5 and 2.25.
    assert result.difference == pytest.approx((1 / 2 + 2.5 * 2 / 3 + 2.25) / (1 / 2 + 2 / 3 + 1))
    drawn = stratified_difference(np.tile(values, 4), np.tile(arms, 4), np.tile(strata, 4), redraws=2_000)
    repeated = stratified_difference(np.tile(values, 4), np.tile(arms, 4), np.tile(strata, 4), redraws=2_000)
    assert drawn == repeated


def test_a_stratum_of_one_arm_tells_nothing():
    with_lonely = stratified_difference([1, 0, 0, 9], [True, False, False, True], [0, 0, 0, 1])
    assert with_lonely == stratified_difference([1, 0, 0], [True, False, False], [0, 0, 0])
    assert with_lonely.strata == 1
    nothing = stratified_difference([1, 2], [True, False], [0, 1])
    assert np.isnan(nothing.difference)
    assert np.isnan(nothing.p)
    assert nothing.strata == 0


def test_values_that_are_all_equal_are_no_evidence():
    assert stratified_difference([0.1] * 60, [True, False, False] * 20, np.repeat(range(10), 6)).p == 1


@pytest.mark.parametrize(
    ("values", "arms", "redraws", "message"),
    [([1, 2], [True], 10, "length"), ([1, np.nan], [True, False], 10, "finite"), ([1, 2], [True, False], 0, "redraw")],
)
def test_what_makes_no_sense_is_refused(values, arms, redraws, message):
    with pytest.raises(ValueError, match=message):
        stratified_difference(values, arms, [0, 0], redraws=redraws)


def test_groups_are_the_places_of_each_label():
    assert [each.tolist() for each in groups(np.array(["b", "a", "b"]))] == [[1], [0, 2]]
    assert groups(np.array([])) == []
