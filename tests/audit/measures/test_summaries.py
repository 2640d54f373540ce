"""Samples of runs, Welch's test and Holm's correction: against SciPy, statsmodels, definitions and by hand."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from audit.measures.holm import holm, holm_within
from audit.measures.summary import Summary, ratio_of_sums, same, summarise
from audit.measures.welch import Welch, satterthwaite, welch, welch_from_summaries, welch_interval

returns = st.floats(min_value=-1e6, max_value=1e6)
samples = st.lists(st.floats(min_value=-500, max_value=500).map(lambda x: round(x, 3)), min_size=2, max_size=12)
NAN = math.nan


@given(st.lists(returns, min_size=2, max_size=30))
def test_a_summary_is_the_standard_librarys_and_leaves_out_what_is_missing(values: list[float]) -> None:
    summary = summarise([*values, NAN, math.inf, None])
    assert summary.mean == pytest.approx(statistics.fmean(values), rel=1e-9, abs=1e-9)
    assert summary.std == pytest.approx(statistics.stdev(values), rel=1e-6, abs=1e-9)
    assert summary.n == len(values)
    assert summary.standard_error == pytest.approx(summary.std / math.sqrt(len(values)))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2, 4, 9], (5.0, math.sqrt(13), 3)),  # squared deviations 9 + 1 + 16 over n - 1 = 2
        ([7.0], (7.0, NAN, 1)),
        ([], (NAN, NAN, 0)),
        # The textbook formula leaves about 1e-17 of these.
        *(([value] * 10, (value, 0.0, 10)) for value in (0.04, 0.9666666666666667, 1e9 / 3)),
        ([0.1 + 0.2, 0.3], (0.1 + 0.2, 0.0, 2)),
        ([1.0, 1.0 + 1e-9], (1.0, 1e-9 / math.sqrt(2), 2)),
    ],
)
def test_summaries_by_hand(values: list[float], expected: tuple[float, float, int]) -> None:
    assert summarise(values) == pytest.approx(expected, nan_ok=True, rel=1e-6, abs=0)


def test_sameness_is_relative() -> None:
    assert same(1e13, 1e13 + 1)
    assert same(0.0, 0.0)
    assert same((0.1 + 0.2) * 1e-15, 0.3 * 1e-15)
    assert not same(0.0, 1e-13)
    assert not same(1.0, 1.0001)


@pytest.mark.parametrize("unit", [1e-15, 1e-9, 1.0, 1e9])
def test_welch_and_the_error_of_a_ratio_do_not_depend_on_the_unit(unit: float) -> None:
    a, b = (1.0, 2.0, 3.0), (5.0, 6.0, 9.0)
    # t = (2 - 20/3) / sqrt(1/3 + 13/9), the variances being 1 and 13/3; df = (1/3 + 13/9)^2 / ((1/3)^2 + (13/9)^2) * 2.
    t, df = -14 / 4, (16 / 9) ** 2 / ((1 / 9) + (169 / 81)) * 2
    assert welch([x * unit for x in a], [x * unit for x in b]) == pytest.approx((t, df, 2 * stats.t.sf(-t, df)))
    # R = 2; residuals 1 - 2, 2 - 2, 3 - 2 have the standard deviation 1.
    assert ratio_of_sums([x * unit for x in a], [1, 1, 1]) == pytest.approx((2 * unit, unit, 3))


@pytest.mark.parametrize(
    ("parts", "wholes", "expected"),
    [
        ([30, 42, 25, 38], [100] * 4, summarise([0.3, 0.42, 0.25, 0.38])),
        # R = 6 / 20; residuals a - R b = 1 - 0.6, 5 - 5.4, 0; their std is 0.4, over a mean b of 20 / 3.
        ([1, 5, 0], [2, 18, 0], (0.3, 0.4 / (20 / 3), 3)),
        ([0, 0], [0, 0], (NAN, NAN, 2)),
        ([], [], (NAN, NAN, 0)),
        ([1, 2], [3, 6], (1 / 3, 0.0, 2)),
        ([1], [4], (0.25, NAN, 1)),
    ],
)
def test_ratios_of_sums(parts, wholes, expected) -> None:
    assert ratio_of_sums(parts, wholes) == pytest.approx(tuple(expected), nan_ok=True)


@given(samples, samples)
def test_welch_and_its_interval_are_scipys(a: list[float], b: list[float]) -> None:
    assume(np.ptp(a) > 0.1)
    assume(np.ptp(b) > 0.1)
    theirs = stats.ttest_ind(a, b, equal_var=False)
    assert welch(a, b) == pytest.approx(Welch(theirs.statistic, theirs.df, theirs.pvalue), rel=1e-6, abs=1e-9)
    assert welch(a, b) == welch_from_summaries(summarise(a), summarise(b))
    ends = theirs.confidence_interval(0.9)
    found = welch_interval(summarise(a), summarise(b), level=0.9)
    assert found == pytest.approx((ends.low, ends.high), rel=1e-6, abs=1e-6)


ONE_SAMPLE = stats.ttest_1samp([480.0, 495.0, 470.0, 500.0], 500.0)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([500.0] * 10, [500.0] * 10, (0.0, NAN, 1.0)),
        # The same return, summed in another order.
        ([0.1 + 0.2] * 3, [0.3] * 3, (0.0, NAN, 1.0)),
        ([500.0] * 3, [499.0] * 3, (math.inf, NAN, 0.0)),
        ([-200.0] * 3, [-120.0] * 2, (-math.inf, NAN, 0.0)),
        ([1.0], [1.0, 2.0], (NAN, NAN, NAN)),
        ([1.0, NAN], [3.0, 4.0], (NAN, NAN, NAN)),
        # Only the second varies: its n - 1 degrees of freedom, and the one-sample test against 500.
        ([500.0] * 10, [480.0, 495.0, 470.0, 500.0], (-ONE_SAMPLE.statistic, 3.0, ONE_SAMPLE.pvalue)),
    ],
)
def test_samples_that_are_constant_or_too_small(a: list[float], b: list[float], expected) -> None:
    assert welch(a, b) == pytest.approx(expected, nan_ok=True)
    has_interval = math.isfinite(expected[1])
    assert all(math.isfinite(end) for end in welch_interval(summarise(a), summarise(b))) == has_interval


def test_degrees_of_freedom_lie_between_the_smaller_sample_and_both() -> None:
    assert satterthwaite(Summary(0, 2.0, 10), Summary(0, 2.0, 10)) == pytest.approx(18)
    assert satterthwaite(Summary(0, 1e-6, 10), Summary(0, 2.0, 10)) == pytest.approx(9)


@given(st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=12))
def test_holm_is_closed_testing_with_bonferroni(p: list[float]) -> None:
    # A test's adjusted p is the largest, over all sets holding it, of the set's size times its smallest p. For one size
    # the worst such set has the largest other p-values.
    expected = []
    for i, own in enumerate(p):
        others = sorted(p[:i] + p[i + 1 :], reverse=True)
        expected.append(min(1, max((size + 1) * min([own, *others[:size]]) for size in range(len(p)))))
    assert holm(p) == pytest.approx(expected)


def test_families_are_corrected_apart_and_sized_without_what_could_not_be_tested() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.5 times 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.5.
    assert holm([0.5, 0.03, NAN, 0.01, 0.02]) == pytest.approx([0.5, 0.06, NAN, 0.04, 0.06], nan_ok=True)
    adjusted, sizes = holm_within([0.01, 0.02, 0.02, NAN], ["a", "b", "a", "b"])
    assert adjusted == pytest.approx([0.02, 0.02, 0.02, NAN], nan_ok=True)
    assert sizes.tolist() == [2, 1, 2, 1]
    assert np.isnan(holm([NAN])).all()
    assert holm([]).size == 0
