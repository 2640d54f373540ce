"""Welch's t-test against SciPy's own route, a hand calculation, and its degenerate cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.integrate import quad

from audit.measures.summary import Summary, summarise
from audit.measures.welch import Welch, satterthwaite, welch, welch_from_summaries, welch_interval

samples = st.lists(st.floats(min_value=-500, max_value=500).map(lambda x: round(x, 3)), min_size=2, max_size=12)


def test_by_hand() -> None:
    # a = 1, 2, 3, 4 (mean 2.5, variance 5/3, over n: 5/12); b = 6, 10 (mean 8, variance 8, over n: 4).
    u, v = 5 / 12, 4.0
    t = (2.5 - 8) / math.sqrt(u + v)
    df = (u + v) ** 2 / (u**2 / 3 + v**2 / 1)
    # Two-sided tail of Student's t by integrating its density.
    scale = math.gamma((df + 1) / 2) / (math.sqrt(df * math.pi) * math.gamma(df / 2))
    tail = quad(lambda x: scale * (1 + x * x / df) ** (-(df + 1) / 2), abs(t), math.inf)[0]
    assert welch([1, 2, 3, 4], [6, 10]) == pytest.approx(Welch(t, df, 2 * tail))


@given(samples, samples)
def test_agrees_with_scipy_from_samples(a: list[float], b: list[float]) -> None:
    assume(np.ptp(a) > 0.1)
    assume(np.ptp(b) > 0.1)
    theirs = scipy_stats.ttest_ind(a, b, equal_var=False)
    ours = welch(a, b)
    assert ours == pytest.approx(Welch(theirs.statistic, theirs.df, theirs.pvalue), rel=1e-6, abs=1e-9)


def test_samples_and_their_summaries_agree() -> None:
    a, b = [3.0, 1.0, 4.0, 1.0, 5.0], [9.0, 2.0, 6.0]
    assert welch(a, b) == welch_from_summaries(summarise(a), summarise(b))


def test_swapping_the_samples_turns_the_sign_only() -> None:
    forth, back = welch([1, 2, 4], [5, 9, 6, 8]), welch([5, 9, 6, 8], [1, 2, 4])
    assert forth.t < 0
    assert back == pytest.approx(Welch(-forth.t, forth.df, forth.p))


def test_one_constant_sample_is_an_ordinary_case() -> None:
    # Only b varies, so the degrees of freedom are b's n - 1 and this is the one-sample test against 500.
    b = [480.0, 495.0, 470.0, 500.0]
    one_sample = scipy_stats.ttest_1samp(b, 500.0)
    assert welch([500.0] * 10, b) == pytest.approx(Welch(-one_sample.statistic, 3.0, one_sample.pvalue))


@pytest.mark.parametrize(
    ("a", "b", "t", "p"),
    [
        ([500.0] * 10, [500.0] * 10, 0.0, 1.0),
        ([0.04] * 10, [0.04] * 30, 0.0, 1.0),
        # The same return, summed in another order.
        ([0.1 + 0.2] * 3, [0.3] * 3, 0.0, 1.0),
        ([500.0] * 3, [499.0] * 3, math.inf, 0.0),
        ([-200.0] * 3, [-120.0] * 2, -math.inf, 0.0),
    ],
)
def test_two_constant_samples(a: list[float], b: list[float], t: float, p: float) -> None:
    result = welch(a, b)
    assert (result.t, result.p) == (t, p)
    assert math.isnan(result.df)


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0, 2.0]), ([1.0, 2.0], []), ([], []), ([1.0, math.nan], [3.0, 4.0])])
def test_fewer_than_two_runs_give_no_result(a: list[float], b: list[float]) -> None:
    assert all(math.isnan(value) for value in welch(a, b))


def test_degrees_of_freedom_lie_between_the_smaller_sample_and_both() -> None:
    equal = satterthwaite(Summary(0, 2.0, 10), Summary(0, 2.0, 10))
    lopsided = satterthwaite(Summary(0, 1e-6, 10), Summary(0, 2.0, 10))
    assert equal == pytest.approx(18)
    assert lopsided == pytest.approx(9)


@given(samples, samples)
def test_interval_agrees_with_scipy(a: list[float], b: list[float]) -> None:
    assume(np.ptp(a) > 0.1)
    assume(np.ptp(b) > 0.1)
    theirs = scipy_stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.9)
    ours = welch_interval(summarise(a), summarise(b), level=0.9)
    assert ours == pytest.approx((theirs.low, theirs.high), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0, 2.0]), ([1.0, 1.0], [2.0, 2.0])])
def test_there_is_no_interval_without_a_variance(a: list[float], b: list[float]) -> None:
    assert all(math.isnan(end) for end in welch_interval(summarise(a), summarise(b)))
