"""Verdicts: does a recomputed number agree with the published one?"""

from __future__ import annotations

import math

import pytest
from scipy import stats as scipy_stats

from audit.measures.summary import Summary
from stats.published.printed import printed
from stats.published.verdicts import (
    Part,
    against_gap,
    against_summary,
    against_value,
    difference_p,
    exact,
    part,
    prints_as,
    widest,
)


def test_a_number_prints_as_another_within_half_a_unit_of_its_last_digit() -> None:
    for value, text, is_same in (
        (474.6651, "474.67", True),
        (474.6649, "474.67", False),
        (0.695, "0.70", True),
        (100 * 609 / 2000, "30.5", True),
        (100 * 609 / 2000, "30.4", True),
        (1.46e-8, "1.5e-08", True),
        (0.4, "<1", True),
        (1.2, "<1", False),
        (33.6, "34", True),
    ):
        assert prints_as(value, printed(text)) is is_same, (value, text)
    assert (exact(480.0, printed("480")), exact(240.0, printed("480"))) == ("same", "differs")


def test_two_parts_make_welchs_test_and_without_variance_it_is_certain() -> None:
    a, b = Summary(12.0, 3.0, 8), Summary(9.5, 1.2, 11)
    expected = scipy_stats.ttest_ind_from_stats(*a, *b, equal_var=False).pvalue
    assert difference_p(a.mean - b.mean, [part(a), part(b)]) == pytest.approx(expected, rel=1e-12)
    assert [difference_p(difference, [Part(0.0, 9)]) for difference in (0.0, 1e-9)] == [1, 0]


def test_means_with_spread_are_held_by_welchs_test() -> None:
    for mean in (474.67, 480.0, 500.0, 441.0, 440.0, 439.0):
        ours = Summary(mean, 40.0, 10)
        # The printed pair that speaks most for agreement: half a unit nearer, half a unit wider.
        theirs = Summary(474.67 - math.copysign(0.005, 474.67 - mean), 16.905, 10)
        p = scipy_stats.ttest_ind_from_stats(*ours, *theirs, equal_var=False).pvalue
        verdict = against_summary(ours, printed("474.67"), printed("16.90"), 10)
        assert verdict == ("compatible" if p >= 0.05 else "differs"), mean


def test_the_same_digits_are_the_same_whatever_a_test_would_find() -> None:
    for ours, mean, std, scale, verdict in (
        (Summary(474.672, 16.901, 10), "474.67", "16.90", 1.0, "same"),
        (Summary(500.0, 0.0, 3), "500.00", "0.00", 1.0, "same"),
        (Summary(474.672, 17.1, 10), "474.67", "16.90", 1.0, "compatible"),
        (Summary(499.0, 0.0, 3), "500.00", "0.00", 1.0, "differs"),
        # 13.85 = 43.79 / sqrt(10), as the paper has both.
        (Summary(294.57, 43.79, 10), "294.57", "13.85", math.sqrt(10), "same"),
        (Summary(330.0, 43.79, 10), "294.57", "13.85", math.sqrt(10), "compatible"),
        (Summary(330.0, 43.79, 10), "294.57", "13.85", 1.0, "differs"),
    ):
        assert against_summary(ours, printed(mean), printed(std), 10, scale) == verdict, ours


def test_without_a_published_spread_theirs_is_taken_to_be_ours() -> None:
    for value in (25.0, 28.0, 33.0, 38.0):
        # Difference over its standard error, with the degrees of freedom of the one known spread.
        t = (abs(value - 30.4) - 0.05) / (5.0 * math.sqrt(1 / 4 + 1 / 10))
        p = 2 * scipy_stats.t.sf(t, 3)
        verdict = against_value(Summary(value, 5.0, 4), printed("30.4"), 10)
        assert verdict == ("compatible" if p >= 0.05 else "differs"), value


def test_there_is_no_verdict_where_there_is_nothing_to_judge_by() -> None:
    one, none = Summary(474.67, math.nan, 1), Summary(math.nan, math.nan, 0)
    for ours in (one, none, Summary(math.nan, math.nan, 5)):
        assert against_summary(ours, printed("474.67"), printed("16.90"), 10) is None
        assert against_value(ours, printed("474.67"), 10) is None
        assert against_gap((ours, one), printed("474.67"), (one, one)) is None
    assert against_value(Summary(0.0, 0.0, 5), printed("0.1"), 10) is None
    assert against_value(Summary(0.0, 0.0, 5), printed("0.0"), 10) == "same"


def test_a_gap_takes_four_samples_into_account() -> None:
    ours = Summary(470.0, 20.0, 5), Summary(300.0, 100.0, 5)
    theirs = widest(printed("474.67"), printed("16.90"), 10), widest(printed("258.09"), printed("138.58"), 10)
    assert theirs[0].std == 16.905
    variances = [s.std**2 / s.n for s in (*ours, *theirs)]
    df = sum(variances) ** 2 / sum(v**2 / (s.n - 1) for v, s in zip(variances, (*ours, *theirs), strict=True))
    t = (216.575 - 170.0) / math.sqrt(sum(variances))
    assert 2 * scipy_stats.t.sf(t, df) > 0.05
    assert against_gap(ours, printed("216.58"), theirs) == "compatible"
    narrow = ours[0]._replace(std=1.0), ours[1]._replace(std=1.0)
    close = theirs[0]._replace(std=1.0), theirs[1]._replace(std=1.0)
    assert against_gap(narrow, printed("216.58"), close) == "differs"
    assert against_gap((Summary(516.58, 1.0, 5), narrow[1]), printed("216.58"), close) == "same"
