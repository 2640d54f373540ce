"""Mean, spread and count of a sample of runs."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.measures.summary import Summary, ratio_of_sums, same, summarise

returns = st.floats(min_value=-1e6, max_value=1e6)


def test_three_returns_by_hand() -> None:
    # Mean of 2, 4, 9 is 5; squared deviations 9 + 1 + 16 = 26, over n - 1 = 2.
    assert summarise([2, 4, 9]) == pytest.approx(Summary(5.0, math.sqrt(13), 3))


def test_standard_error_is_the_deviation_over_root_n() -> None:
    # The deviation of 1, 3, 5, 7 is sqrt(20 / 3), and n = 4.
    assert summarise([1, 3, 5, 7]).standard_error == pytest.approx(math.sqrt(20 / 3) / 2)


@given(st.lists(returns, min_size=2, max_size=30))
def test_agrees_with_the_standard_library(values: list[float]) -> None:
    summary = summarise(values)
    assert summary.mean == pytest.approx(statistics.fmean(values), rel=1e-9, abs=1e-9)
    assert summary.std == pytest.approx(statistics.stdev(values), rel=1e-6, abs=1e-9)
    assert summary.n == len(values)


def test_one_run_has_a_mean_and_no_spread() -> None:
    summary = summarise([7.0])
    assert (summary.mean, summary.n) == (7.0, 1)
    assert math.isnan(summary.std)
    assert math.isnan(summary.standard_error)


def test_no_runs_have_neither() -> None:
    summary = summarise([])
    assert summary.n == 0
    assert math.isnan(summary.mean)
    assert math.isnan(summary.standard_error)


@pytest.mark.parametrize("missing", [math.nan, math.inf, -math.inf, None])
def test_a_missing_return_is_left_out_and_not_counted(missing: float | None) -> None:
    assert summarise([1.0, missing, 3.0]) == pytest.approx(Summary(2.0, math.sqrt(2), 2))


@pytest.mark.parametrize("value", [0.04, 0.1, 0.9666666666666667, 1e9 / 3])
def test_a_constant_sample_has_no_spread_at_all(value: float) -> None:
    # The textbook formula leaves about 1e-17 here, because the mean of ten times 0.04 is not 0.04.
    assert summarise([value] * 10) == Summary(value, 0.0, 10)


def test_spread_within_rounding_error_is_none() -> None:
    assert summarise([0.1 + 0.2, 0.3]).std == 0.0


def test_a_small_spread_is_kept() -> None:
    assert summarise([1.0, 1.0 + 1e-9]).std == pytest.approx(1e-9 / math.sqrt(2))


def test_sameness_is_relative_for_large_numbers_and_absolute_near_zero() -> None:
    assert same(1e13, 1e13 + 1)
    assert same(0.0, 1e-13)
    assert not same(0.0, 1e-11)
    assert not same(1.0, 1.0001)


def test_a_matrix_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        summarise([[1.0, 2.0], [3.0, 4.0]])


def test_a_ratio_over_equal_runs_is_the_mean_of_their_ratios() -> None:
    regressions = np.array([30.0, 42.0, 25.0, 38.0])
    found = ratio_of_sums(regressions, np.full(4, 100.0))
    shares = regressions / 100
    assert found == pytest.approx(Summary(shares.mean(), shares.std(ddof=1), 4))


def test_a_ratio_over_unequal_runs_weighs_them() -> None:
    # R = 6 / 20; residuals a - R b = 1 - 0.6, 5 - 5.4, 0 + 0 = 0.4, -0.4, 0; their std is 0.4, over a mean b of 20 / 3.
    found = ratio_of_sums([1, 5, 0], [2, 18, 0])
    assert found == pytest.approx(Summary(0.3, 0.4 / (20 / 3), 3))


def test_ratios_without_a_value_or_a_spread() -> None:
    assert math.isnan(ratio_of_sums([0, 0], [0, 0]).mean)
    assert math.isnan(ratio_of_sums([], []).mean)
    assert ratio_of_sums([1, 2], [3, 6]) == Summary(1 / 3, 0.0, 2)
    single = ratio_of_sums([1], [4])
    assert (single.mean, single.n) == (0.25, 1)
    assert math.isnan(single.std)
