"""Printed numbers as intervals, and Welch's test and Holm's correction over them: nothing possible is ever lost."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from audit.measures.holm import holm
from stats.published.intervals import EVERYTHING, INFINITY, Interval, point
from stats.published.printed import NotPrintedError, printed
from stats.published.results import Status, judge
from stats.published.significance import PrintedTest, check_tests
from stats.published.tables import possible_std
from stats.published.welch_bounds import df_bounds, exact_sample, holm_bounds, p_bounds, sample, t_bounds

D = Decimal
decimals = st.decimals(min_value=-1000, max_value=1000, places=3)


def test_what_a_printed_number_stands_for() -> None:
    for text, low, high in (
        ("0.70", "0.695", "0.705"),
        ("0.7", "0.65", "0.75"),
        ("475", "474.5", "475.5"),
        ("-0.00", "-0.005", "0.005"),
        ("1.5e-08", "1.45e-08", "1.55e-08"),
        ("1E3", "500", "1500"),
        ("−3.2", "-3.25", "-3.15"),
        ("+16.0", "15.95", "16.05"),
        (".5", "0.45", "0.55"),
        ("~28", "27", "29"),
        ("<0.001", "-inf", "0.001"),
        (" > 5 ", "5", "inf"),
        ("≥6", "6", "inf"),
    ):
        assert printed(text).interval == Interval(D(low), D(high)), text
    for text in ("", "n/a", "1,000", "nan", "inf", "1e9999", "٣", "1.2.3", "--1", "0x10", "1" * 41, "1\n2"):
        with pytest.raises(NotPrintedError):
            printed(text)


@given(a=decimals, b=decimals, c=decimals, d=decimals, x=st.fractions(0, 1), y=st.fractions(0, 1))
def test_operations_keep_every_exact_result(a: D, b: D, c: D, d: D, x: Fraction, y: Fraction) -> None:
    one, other = Interval(min(a, b), max(a, b)), Interval(min(c, d), max(c, d))
    p = Fraction(one.low) + x * (Fraction(one.high) - Fraction(one.low))
    q = Fraction(other.low) + y * (Fraction(other.high) - Fraction(other.low))
    cases = [
        (one + other, p + q),
        (one - other, p - q),
        (one * other, p * q),
        (one.square(), p * p),
        (abs(one), abs(p)),
    ]
    if not other.low <= 0 <= other.high:
        cases.append((one / other, p / q))
    for interval, exact in cases:
        assert Fraction(interval.low) <= exact <= Fraction(interval.high)
    if one.low >= 0:
        root = one.root()
        assert Fraction(root.low) ** 2 <= p <= Fraction(root.high) ** 2


samples = st.tuples(
    st.lists(st.floats(-50, 50), min_size=2, max_size=12),
    st.lists(st.floats(-50, 50), min_size=2, max_size=12),
    st.integers(0, 3),
)


@settings(max_examples=300)
@given(samples)
def test_the_truth_behind_a_print_is_never_ruled_out(drawn: tuple[list[float], list[float], int]) -> None:
    first, second, places = np.array(drawn[0]), np.array(drawn[1]), drawn[2]
    stds = first.std(ddof=1), second.std(ddof=1)
    assume(min(stds) > 1e-6)
    truth = scipy_stats.ttest_ind(first, second, equal_var=False)
    means = first.mean(), second.mean()
    rounded = [
        (printed(f"{mean:.{places}f}"), printed(f"{std:.{places}f}"), len(values))
        for mean, std, values in zip(means, stds, (first, second), strict=True)
    ]
    a, b = (sample(*summary) for summary in rounded)
    # The oracle's own last bits are no finding.
    assert float(t_bounds(a, b).low) <= truth.statistic * (1 + np.copysign(1e-9, truth.statistic)) + 1e-12
    assert float(t_bounds(a, b).high) >= truth.statistic * (1 - np.copysign(1e-9, truth.statistic)) - 1e-12
    assert float(df_bounds(a, b).low) <= truth.df * (1 + 1e-9)
    assert float(df_bounds(a, b).high) >= truth.df * (1 - 1e-9)
    p = p_bounds(t_bounds(a, b), df_bounds(a, b))
    assert float(p.low) <= truth.pvalue * (1 + 1e-6)
    assert float(p.high) >= truth.pvalue * (1 - 1e-6)
    quantities = {
        "gap": f"{means[0] - means[1]:.2f}",
        "welch_t": f"{truth.statistic:.3f}",
        "df": f"{truth.df:.1f}",
        "raw_p": f"{truth.pvalue:.4f}",
        "holm_p": f"{truth.pvalue:.1e}",
    }
    test = PrintedTest("x", "", (a, b), None, {name: printed(text) for name, text in quantities.items()})
    results = list(check_tests("t", [test]))
    assert len(results) == 5
    assert not [result for result in results if result.status is Status.inconsistent]


def s(mean: str, std: str, n: int = 10):  # type: ignore[no-untyped-def]
    return sample(printed(mean), printed(std), n)


def test_bounds_at_the_corners_by_hand() -> None:
    assert point(1) / Interval(D(-1), D(1)) == EVERYTHING
    # Gap 0.9 to 1.1; both deviations 0.95 to 1.05, so the error is std * sqrt(2 / 8) = std / 2.
    t = t_bounds(s("1.1", "1.0", 8), s("0.1", "1.0", 8))
    assert (float(t.low), float(t.high)) == pytest.approx((0.9 / 0.525, 1.1 / 0.475))


def test_what_has_no_spread() -> None:
    exact = [exact_sample(printed(mean), printed("0.00"), 10) for mean in ("1.00", "1.00", "0.50")]
    assert t_bounds(exact[0], exact[1]) == point(0)
    assert t_bounds(exact[0], exact[2]) == Interval(INFINITY, INFINITY)
    assert t_bounds(exact[2], exact[0]) == Interval(-INFINITY, -INFINITY)
    # As printed, 0.00 may be anything up to 0.005, and so may the gap of two equal means be.
    assert t_bounds(s("1.00", "0.00"), s("1.00", "0.00")) == EVERYTHING
    assert df_bounds(s("1.00", "0.00"), s("0.50", "0.00", 5)) == Interval(D(4), D(13))
    # One that certainly varies leaves the degrees of freedom at its own n - 1.
    df = df_bounds(s("1.00", "0.00"), s("0.50", "9.00", 5))
    assert float(df.low) == pytest.approx(4)
    assert float(df.high) < 4.001
    # Of a single value there is no test.
    assert t_bounds(s("1.0", "0.1", 1), s("2.0", "0.1")) == EVERYTHING
    with pytest.raises(ValueError, match="fewer than two"):
        df_bounds(s("1.0", "0.1", 1), s("2.0", "0.1"))


def test_p_of_the_extremes() -> None:
    none, anything = p_bounds(point(0), point(9)), p_bounds(Interval(D(-1), INFINITY), Interval(D(9), D(18)))
    assert (float(none.low), float(none.high)) == pytest.approx((1, 1), abs=2e-9)
    assert (float(anything.low), float(anything.high)) == (0, 1)
    # Far out, against the exact tail of two degrees of freedom, 1 - t / sqrt(2 + t^2), times a power series: 1 / t^2.
    far = p_bounds(point(10**6), point(2))
    assert float(far.low) <= 1e-12 <= float(far.high) * (1 + 1e-9)
    infinite = p_bounds(point(D("1.959963984540054")), Interval(D(10), INFINITY))
    assert float(infinite.low) <= 0.05 <= float(infinite.high)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6))
def test_holm_of_bounds_holds_holm_of_everything_between(drawn: list[tuple[float, float, float]]) -> None:
    intervals = [Interval(D(min(x, y)), D(max(x, y))) for x, y, _ in drawn]
    inside = [min(x, y) + share * (max(x, y) - min(x, y)) for x, y, share in drawn]
    expected = holm(inside)
    for bounds, value in zip(holm_bounds(intervals), expected, strict=True):
        assert float(bounds.low) - 1e-12 <= value <= float(bounds.high) + 1e-12


def test_holm_is_the_closed_test_of_bonferroni() -> None:
    p = [0.01, 0.04, 0.03, 0.2]
    sets = [members for size in range(1, 5) for members in itertools.combinations(range(4), size)]
    closed = [max(len(each) * min(p[k] for k in each) for each in sets if i in each) for i in range(4)]
    found = holm_bounds([point(D(repr(value))) for value in p])
    assert [float(each.low) for each in found] == pytest.approx(closed)
    assert [float(each.low) for each in found] == pytest.approx(list(holm(p)))


def test_verdicts() -> None:
    for text, low, high, face, decides, status in (
        ("1.0", "2", "3", None, True, "inconsistent"),
        ("1.0", "1.02", "3", None, True, "consistent"),
        ("1.0", "1.02", "3", None, False, "undecidable"),
        ("1.0", "1.02", "1.03", None, False, "consistent"),
        ("1.0", "1.02", "3", "1.04", False, "consistent"),
        ("1.0", "1.05", "3", "2", True, "consistent"),
        ("<0.05", "0.01", "0.04", None, True, "consistent"),
        ("<0.05", "0.01", "0.06", None, True, "undecidable"),
        ("<0.05", "0.051", "0.06", None, True, "inconsistent"),
    ):
        exact = point(D(face)) if face else None
        found = judge(printed(text), Interval(D(low), D(high)), face=exact, decides=decides)
        assert found == status, (text, low, high)


@settings(max_examples=200)
@given(st.lists(st.integers(0, 100), min_size=2, max_size=8))
def test_no_values_within_a_range_spread_further_than_possible(drawn: list[int]) -> None:
    values = np.array(drawn) / 100 * 3
    bounds = possible_std(printed(f"{values.mean():.2f}").interval, D(0), D(3), len(values))
    assert values.std(ddof=1) <= float(bounds.high) * (1 + 1e-12) + 1e-12


def test_the_largest_spread_by_hand() -> None:
    # Five values of 0 and five of 3: mean 1.5, sample variance 10 * 1.5^2 / 9.
    assert float(possible_std(point(D("1.5")), D(0), D(3), 10).high) == pytest.approx((22.5 / 9) ** 0.5)
