"""Printed numbers as ranges, and Welch's test at the corners of what is printed: nothing possible is ever lost."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from stats.published.corners import ANYTHING, Found, Sample, p_range, welch_range
from stats.published.printed import NotPrintedError, Range, printed


def test_what_a_printed_number_stands_for() -> None:
    for text, low, high in (
        ("0.70", 0.695, 0.705),
        ("475", 474.5, 475.5),
        ("-0.00", -0.005, 0.005),
        ("1.5e-08", 1.45e-08, 1.55e-08),
        ("1E3", 500, 1500),
        ("−3.2", -3.25, -3.15),
        ("+16.0", 15.95, 16.05),
        (".5", 0.45, 0.55),
        ("~28", 27, 29),
        ("<0.001", -math.inf, 0.001),
        (" > 5 ", 5, math.inf),
        ("≥6", 6, math.inf),
    ):
        assert printed(text).range == Range(low, high), text
    for text in ("", "n/a", "1,000", "nan", "inf", "1e999", "1e9999", "٣", "1.2.3", "--1", "0x10", "1" * 41, "1\n2"):
        with pytest.raises(NotPrintedError):
            printed(text)


def of(mean: str, std: str, n: int = 10) -> Sample:
    spread = printed(std).range
    return Sample(printed(mean).range, Range(max(spread.low, 0.0), spread.high), n)


# Digits that matter, deviations that may be 0, and a share of the variance at which the degrees of freedom are 27.
PAIRS = [
    (of("474.67", "16.90"), of("258.09", "138.58")),
    (of("0.8", "0.1", 5), of("0.7", "0.3", 20)),
    (of("3.0", "2.0", 16), of("1.0", "0.0", 4)),
    (of("10", "2", 16), of("8", "2", 13)),
    (of("-1.2", "0.4", 3), of("2", "1", 3)),
]


def test_corners_are_those_that_scipy_finds() -> None:
    for a, b in PAIRS:
        found = welch_range(a, b)
        tests = [
            scipy_stats.ttest_ind_from_stats(x, s, a.n, y, u, b.n, equal_var=False)
            for x, s, y, u in itertools.product(a.mean, a.std, b.mean, b.std)
        ]
        assert found.welch_t == pytest.approx((min(t.statistic for t in tests), max(t.statistic for t in tests)))
        # Between the corners nothing is outside, neither t nor the degrees of freedom nor p.
        for x, s, y, u in itertools.product(*(np.linspace(*ends, 5) for ends in (a.mean, a.std, b.mean, b.std))):
            test = scipy_stats.ttest_ind_from_stats(x, s, a.n, y, u, b.n, equal_var=False)
            share = s**2 / a.n / (s**2 / a.n + u**2 / b.n)
            df = 1 / (share**2 / (a.n - 1) + (1 - share) ** 2 / (b.n - 1))
            for value, ends in ((test.statistic, found.welch_t), (df, found.df), (test.pvalue, found.raw_p)):
                assert Range(value, value).within(ends), (a, b, value, ends)


def test_bounds_by_hand() -> None:
    # p by differential evolution over the four ranges; the ends of t and of its degrees of freedom allow 0.000547.
    narrow = welch_range(of("6.31", "0.73", 5), of("8.52", "2.45", 30)).raw_p
    assert narrow == pytest.approx((0.00055204, 0.00066136), rel=1e-3)
    # Gap 0.9 to 1.1; both deviations 0.95 to 1.05, so the error is std * sqrt(2 / 8) = std / 2.
    found = welch_range(of("1.1", "1.0", 8), of("0.1", "1.0", 8))
    assert found.welch_t == pytest.approx((0.9 / 0.525, 1.1 / 0.475))
    # Equal shares of the variance are possible, and leave 2 n - 2; the corners do not.
    r = 0.95**2 / (0.95**2 + 1.05**2)
    assert found.df == pytest.approx((7 / (r**2 + (1 - r) ** 2), 14))


def test_what_has_no_spread() -> None:
    exact = [Sample(Range(mean, mean), Range(0.0, 0.0), 10) for mean in (1.0, 1.0, 0.5)]
    assert welch_range(exact[0], exact[1])[1:4] == ((0, 0), (9, 18), (1, 1))
    assert welch_range(exact[0], exact[2])[1:4] == ((math.inf, math.inf), (9, 18), (0, 0))
    assert welch_range(exact[2], exact[0]).welch_t == (-math.inf, -math.inf)
    # As printed, 0.00 may be anything up to 0.005, and so may the gap of two equal means be.
    assert welch_range(of("1.00", "0.00"), of("1.00", "0.00"))[1:4] == (ANYTHING, (9, 18), (0, 1))
    # One that certainly varies leaves the degrees of freedom at its own n - 1.
    df = welch_range(of("1.00", "0.00"), of("0.50", "9.00", 5)).df
    assert df.low == pytest.approx(4)
    assert df.high < 4.001
    # Of a single value there is no test.
    assert welch_range(of("1.0", "0.1", 1), of("2.0", "0.1")) == Found(Range(pytest.approx(-1.1), pytest.approx(-0.9)))


def test_p_of_the_extremes() -> None:
    assert p_range(Range(0, 0), Range(9, 9)) == (1, 1)
    assert p_range(Range(-1, math.inf), Range(9, 18)) == (0, 1)
    # Far out, against the exact tail of two degrees of freedom, 1 - t / sqrt(2 + t^2), as a power series: 1 / t^2.
    assert p_range(Range(1e6, 1e6), Range(2, 2)) == pytest.approx((1e-12, 1e-12), rel=1e-6)
    # With ever more degrees of freedom it is the normal one.
    ends = p_range(Range(-1.959963984540054, -1.959963984540054), Range(10, math.inf))
    assert ends == pytest.approx((0.05, 2 * scipy_stats.t.sf(1.959963984540054, 10)))
    assert p_range(Range(2, 2), Range(-math.inf, 9)) == (0, 1)


samples = st.tuples(
    st.lists(st.floats(-50, 50), min_size=2, max_size=12),
    st.lists(st.floats(-50, 50), min_size=2, max_size=12),
    st.integers(0, 3),
)


@settings(max_examples=200)
@given(samples)
def test_the_truth_behind_a_print_is_never_ruled_out(drawn: tuple[list[float], list[float], int]) -> None:
    first, second, places = np.array(drawn[0]), np.array(drawn[1]), drawn[2]
    stds = first.std(ddof=1), second.std(ddof=1)
    assume(min(stds) > 1e-6)
    truth = scipy_stats.ttest_ind(first, second, equal_var=False)
    a, b = (
        of(f"{values.mean():.{places}f}", f"{std:.{places}f}", len(values))
        for values, std in zip((first, second), stds, strict=True)
    )
    found = welch_range(a, b)
    for value, ends in ((truth.statistic, found.welch_t), (truth.df, found.df), (truth.pvalue, found.raw_p)):
        # The oracle's own last bits are no finding.
        slack = 1e-6 * abs(value) + 1e-12
        assert ends.low - slack <= value <= ends.high + slack
