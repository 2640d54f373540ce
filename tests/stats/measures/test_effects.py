"""Hedges' g against statsmodels, a textbook and calculations by hand; its interval against its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.integrate import quad
from scipy.special import nctdtrinc
from statsmodels.stats.meta_analysis import effectsize_smd

from audit.measures.summary import Summary, summarise
from stats.measures.effects import (
    Effect,
    hedges_g,
    hedges_g_from_summaries,
    noncentrality_interval,
    small_sample_correction,
)

samples = st.lists(st.floats(min_value=-500, max_value=500).map(lambda x: round(x, 3)), min_size=2, max_size=12)


def chance_up_to(t: float, df: float, noncentrality: float) -> float:
    """P(T <= t) for T = (Z + noncentrality) / S, by integrating over S."""
    integrand = lambda s: scipy_stats.norm.cdf(t * s - noncentrality) * scipy_stats.chi.pdf(s * math.sqrt(df), df)  # noqa: E731
    return math.sqrt(df) * quad(integrand, 0, 6, limit=200)[0]


def test_the_correction_by_hand() -> None:
    # gamma(1) / gamma(1/2) = 1 / sqrt(pi); gamma(2) / (sqrt(2) gamma(3/2)) = sqrt(2 / pi).
    assert small_sample_correction(2) == pytest.approx(1 / math.sqrt(math.pi))
    assert small_sample_correction(4) == pytest.approx(math.sqrt(2 / math.pi))
    # Ten degrees of freedom: 4! / (sqrt(5) gamma(4.5)), gamma(4.5) = 3.5 x 2.5 x 1.5 x 0.5 x sqrt(pi).
    assert small_sample_correction(10) == pytest.approx(24 / (math.sqrt(5) * 6.5625 * math.sqrt(math.pi)))
    for df in (18, 98, 1000):
        assert small_sample_correction(df) == pytest.approx(1 - 3 / (4 * df - 1), abs=0.2 / df**2)
    with pytest.raises(ValueError, match="two degrees"):
        small_sample_correction(1)


def test_a_textbook_example() -> None:
    # Borenstein, Hedges, Higgins and Rothstein, "Introduction to Meta-Analysis" (2009), chapter 4: means 103 and 100,
    # deviations 5.5 and 4.5, fifty each; d = 0.5970, J = 0.9923, g = 0.5924.
    value, low, high = hedges_g_from_summaries(Summary(103, 5.5, 50), Summary(100, 4.5, 50))
    assert value == pytest.approx(0.5924, abs=5e-5)
    # Their interval, by a normal approximation with variance 0.0411.
    assert (low, high) == pytest.approx((0.5924 - 1.96 * 0.0411**0.5, 0.5924 + 1.96 * 0.0411**0.5), abs=0.01)


@given(samples, samples)
def test_agrees_with_statsmodels(a: list[float], b: list[float]) -> None:
    assume(np.ptp(a) > 0.1)
    assume(np.ptp(b) > 0.1)
    ours, n = hedges_g(a, b), len(a) + len(b)
    theirs, _ = effectsize_smd(np.mean(a), np.std(a, ddof=1), len(a), np.mean(b), np.std(b, ddof=1), len(b))
    # They correct by 1 - 3 / (4 n - 9), which approximates J.
    assert ours.value == pytest.approx(theirs / (1 - 3 / (4 * n - 9)) * small_sample_correction(n - 2), abs=1e-9)
    assert ours.low <= ours.value <= ours.high


@given(samples, samples)
def test_the_interval_holds_zero_where_the_pooled_t_test_does(a: list[float], b: list[float]) -> None:
    assume(np.ptp(a) > 0.1)
    assume(np.ptp(b) > 0.1)
    p = scipy_stats.ttest_ind(a, b).pvalue
    assume(abs(p - 0.05) > 1e-6)
    _, low, high = hedges_g(a, b)
    assert (low <= 0 <= high) == (p > 0.05)


@pytest.mark.parametrize(("t", "df"), [(0.0, 2), (0.3, 2), (2.6, 18), (-2.6, 18), (-7.0, 5), (40.0, 3), (5.0, 98)])
def test_the_ends_leave_a_fortieth_on_either_side(t: float, df: int) -> None:
    low, high = noncentrality_interval(t, df)
    assert chance_up_to(t, df, low) == pytest.approx(0.975, abs=1e-6)
    assert chance_up_to(t, df, high) == pytest.approx(0.025, abs=1e-6)
    if t >= 0:
        assert (low, high) == pytest.approx((nctdtrinc(df, 0.975, t), nctdtrinc(df, 0.025, t)), rel=1e-5, abs=1e-5)


def test_there_is_an_interval_where_scipys_noncentral_t_gives_out_to_the_left() -> None:
    # Shares of three runs each, as 100, 100, 93.3 against 0, 0, 6.7 percent: t = 13.9 with 4 degrees of freedom.
    for df in (2, 3, 4, 6, 10, 18, 38):
        for t in (12.499999999999996, 13.856406460551014, 22.999999999999982, *np.linspace(0, 100, 201)):
            low, high = noncentrality_interval(float(t), df)
            assert -1.96 - 1e-9 <= low <= t <= high
    low, high = noncentrality_interval(13.856406460551014, 4)
    assert chance_up_to(13.856406460551014, 4, low) == pytest.approx(0.975, abs=1e-6)
    assert chance_up_to(13.856406460551014, 4, high) == pytest.approx(0.025, abs=1e-6)
    # The command that ended in a traceback: both samples almost constant, and far apart.
    assert all(map(math.isfinite, hedges_g([100, 100, 280 / 3], [0, 0, 20 / 3])))


@pytest.mark.parametrize("df", [2, 18, 60])
def test_far_out_the_interval_goes_on_without_a_step(df: int) -> None:
    before, after = noncentrality_interval(999.999, df), noncentrality_interval(1000.001, df)
    assert after == pytest.approx(before, rel=1e-4)
    # A difference of 10^12 deviations, as all but constant samples have, is an ordinary one.
    assert all(map(math.isfinite, noncentrality_interval(1e12, df)))


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    ours, theirs = rng.normal(0.8, 1, (600, 5)), rng.normal(0, 1, (600, 8))
    held = [effect.low <= 0.8 <= effect.high for effect in map(hedges_g, ours, theirs)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.025)


def test_the_value_is_unbiased_where_the_uncorrected_one_is_not() -> None:
    rng = np.random.default_rng(8)
    ours, theirs = rng.normal(1, 1, (20000, 3)), rng.normal(0, 1, (20000, 3))
    pooled = np.sqrt((ours.var(axis=1, ddof=1) + theirs.var(axis=1, ddof=1)) / 2)
    raw = ((ours.mean(axis=1) - theirs.mean(axis=1)) / pooled).mean()
    assert raw > 1.2
    assert raw * small_sample_correction(4) == pytest.approx(1, abs=0.04)


def test_swapping_the_samples_turns_the_sign_only_and_summaries_are_as_good() -> None:
    forth, back = hedges_g([1, 2, 4], [5, 9, 6, 8]), hedges_g([5, 9, 6, 8], [1, 2, 4])
    assert back == pytest.approx(Effect(-forth.value, -forth.high, -forth.low))
    a, b = [3.0, 1.0, math.nan, 4.0, 1.0, 5.0], [9.0, 2.0, 6.0]
    assert hedges_g(a, b) == hedges_g_from_summaries(summarise(a), summarise(b))
    with pytest.raises(ValueError, match="between 0 and 1"):
        hedges_g([1, 2], [3, 4], level=95)


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ([500.0] * 10, [500.0] * 10, 0.0),
        ([0.1 + 0.2] * 3, [0.3] * 3, 0.0),
        ([500.0] * 3, [499.0] * 3, math.inf),
        ([-200.0] * 3, [-120.0] * 2, -math.inf),
        ([1.0], [1.0, 2.0], math.nan),
        ([1.0, 2.0], [], math.nan),
    ],
)
def test_what_has_no_spread_or_too_few_runs_has_no_interval(a: list[float], b: list[float], value: float) -> None:
    assert hedges_g(a, b) == pytest.approx(Effect(value, math.nan, math.nan), nan_ok=True)


def test_one_constant_sample_is_an_ordinary_case() -> None:
    # Variances 0 over ten and 5/3 over four runs: pooled 3 x 5/3 / 12.
    effect = hedges_g([500.0] * 10, [1.0, 2.0, 3.0, 4.0])
    assert effect.value == pytest.approx(497.5 / math.sqrt(5 / 12) * small_sample_correction(12))
    assert effect.low < effect.value < effect.high
